// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/compare.h"

#include <cmath>
#include <limits>

#include "epilogue/tensor/print.h"

namespace epi {
namespace {

// The value after rounding to `dtype`, as far as overflow goes: values beyond the largest finite
// one become infinity.
double clamped(DType dtype, double value) {
  if (!is_floating(dtype) || std::isnan(value)) return value;
  const double max = float_format(dtype).max;
  const bool overflows = std::abs(value) >= max + half_ulp(dtype, max);
  return overflows ? std::copysign(std::numeric_limits<double>::infinity(), value) : value;
}

bool close(double got, double want, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::abs(got - want) <= allowed;
}

}  // namespace

::testing::AssertionResult matches(const Tensor& got, const RefTensor& want, OpClass op_class) {
  if (!got.defined()) return ::testing::AssertionFailure() << "the tensor is undefined";
  if (got.shape() != want.shape) {
    return ::testing::AssertionFailure()
           << "the result is " << describe(got) << ", the reference " << to_string(want.shape);
  }
  const RefTensor elements = ref::read(got);
  size_t wrong = 0;
  size_t first = 0;
  double allowed_there = 0;
  for (size_t i = 0; i < elements.values.size(); ++i) {
    const double value = clamped(got.dtype(), want.values[i]);
    const double allowed = allowed_error(got.dtype(), op_class, value, want.scale(i), want.terms);
    if (close(elements.values[i], value, allowed)) continue;
    if (wrong++ > 0) continue;
    first = i;
    allowed_there = allowed;
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << wrong << " of " << elements.values.size() << " elements are wrong, the first at "
         << first << ": "
         << fmt::format("{:.17g}, not {:.17g} (allowed: {:.3g})", elements.values[first],
                        want.values[first], allowed_there)
         << "; the result is " << describe(got);
}

::testing::AssertionResult names(const std::string& message, std::string_view op,
                                 const std::vector<std::string_view>& parts) {
  const std::string prefix = "[" + std::string(op) + "] ";
  if (!message.starts_with(prefix)) {
    return ::testing::AssertionFailure() << "\"" << message << "\" does not start with " << prefix;
  }
  for (const std::string_view part : parts) {
    if (message.find(part, prefix.size()) == std::string::npos) {
      return ::testing::AssertionFailure() << "\"" << message << "\" does not contain " << part;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace epi
