// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/dtype.h"

#include <array>

namespace epi {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kNames = {"f64", "f32", "bf16", "f16",
                                                              "i64", "i32", "bool", "i8"};

}  // namespace

bool can_represent(DType dtype, double value) {
  if (is_floating(dtype) || dtype == DType::kBool) return true;
  const double largest = dtype == DType::kI8    ? 0x1p7 - 1
                         : dtype == DType::kI32 ? 0x1p31 - 1
                                                : 0x1p53;
  // Comparisons with NaN are false.
  const double smallest = dtype == DType::kI8 ? -0x1p7 : -largest;
  return value >= smallest && value <= largest &&
         value == static_cast<double>(static_cast<int64_t>(value));
}

std::string_view name(DType dtype) { return kNames[static_cast<size_t>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace epi
