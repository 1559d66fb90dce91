// SPDX-License-Identifier: Apache-2.0
// Assertions on operators: compare a result with the reference, and
// check the message of a call that throws.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/ops/reference.h"
#include "tests/ops/tolerance.h"

namespace epi {

// Names the instances of suites over dtypes: "bf16".
inline std::string dtype_label(const ::testing::TestParamInfo<DType>& param) {
  return std::string(name(param.param));
}

// Compares the shape and every element of `got` with `want` within the tolerance of `op_class`. NaN
// equals NaN. The message counts the wrong elements and shows the first one.
::testing::AssertionResult matches(const Tensor& got, const RefTensor& want, OpClass op_class);

// Compares the shape and every element exactly.
inline ::testing::AssertionResult same(const Tensor& got, const RefTensor& want) {
  return matches(got, want, OpClass::kExact);
}

// Checks that `message` starts with "[op] " and contains each of `parts`.
::testing::AssertionResult names(const std::string& message, std::string_view op,
                                 const std::vector<std::string_view>& parts);

// Checks that `call` throws an `Error` whose message starts with
// "[op] " and contains each of `parts`.
template <typename Call>
::testing::AssertionResult fails(std::string_view op, const std::vector<std::string_view>& parts,
                                 Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return names(error.what(), op, parts);
  } catch (const std::exception& other) {
    return ::testing::AssertionFailure() << op << " threw another exception: " << other.what();
  }
  return ::testing::AssertionFailure() << op << " did not throw";
}

}  // namespace epi
