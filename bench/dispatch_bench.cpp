// SPDX-License-Identifier: Apache-2.0
// The cost of dispatch: a view operator, which dispatches once, and transpose, which also
// dispatches as_strided.
#include "bench/suite.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int kCalls = 20000;
constexpr double kLimitNs = 150;

}  // namespace

void add_dispatch(Suite& suite) {
  const Tensor x = empty({64, 128, 768});
  const auto one_view = [x] { benchmark::DoNotOptimize(view(x, {8192, 768})); };
  suite.add(
      "dispatch",
      {"one dispatched view op, ns", {"view", one_view}, {}, Bound::kAtMost, kLimitNs, kCalls});
  const auto two_views = [x] { benchmark::DoNotOptimize(transpose(x, 0, 1)); };
  suite.add("dispatch", {"transpose and its as_strided, ns",
                         {"transpose", two_views},
                         {},
                         Bound::kAtMost,
                         2 * kLimitNs,
                         kCalls});
}

}  // namespace epi::bench
