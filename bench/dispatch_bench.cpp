// SPDX-License-Identifier: Apache-2.0
// What the door costs: one view operator, which dispatches once, and transpose, which dispatches
// as_strided below itself.
#include "bench/suite.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {

void add_dispatch(Suite& suite) {
  const Tensor x = empty({64, 128, 768});
  suite.add("dispatch/view", [x] { benchmark::DoNotOptimize(view(x, {8192, 768})); });
  suite.add("dispatch/transpose", [x] { benchmark::DoNotOptimize(transpose(x, 0, 1)); });
  suite.at_most_ns("one dispatched view op", "dispatch/view", 150);
}

}  // namespace epi::bench
