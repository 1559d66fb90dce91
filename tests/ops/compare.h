// SPDX-License-Identifier: Apache-2.0
// Judging a result: against the reference, and a call that should throw against its message.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/ops/reference.h"
#include "tests/ops/tolerance.h"

namespace epi {

// "bf16", for suites over dtypes.
inline std::string dtype_label(const ::testing::TestParamInfo<DType>& param) {
  return std::string(name(param.param));
}

// Shape and every element of `got` are those of `want`; NaN equals NaN. The message counts the
// wrong elements and shows the first.
::testing::AssertionResult matches(const Tensor& got, const RefTensor& want, OpClass op_class);

// The same elements and shape, exactly.
inline ::testing::AssertionResult same(const Tensor& got, const RefTensor& want) {
  return matches(got, want, OpClass::kExact);
}

// `message` begins with "[op]" and holds each of `parts`.
::testing::AssertionResult names(const std::string& message, std::string_view op,
                                 const std::vector<std::string_view>& parts);

// `call` throws an `Error` in the name of `op` whose message holds each of `parts`.
template <typename Call>
::testing::AssertionResult fails(std::string_view op, const std::vector<std::string_view>& parts,
                                 Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return names(error.what(), op, parts);
  } catch (const std::exception& other) {
    return ::testing::AssertionFailure() << op << " threw something else: " << other.what();
  }
  return ::testing::AssertionFailure() << op << " did not throw";
}

}  // namespace epi
