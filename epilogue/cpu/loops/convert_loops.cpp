// SPDX-License-Identifier: Apache-2.0
// Copies with conversion between all dtypes. Floating-point values are truncated to integers and
// clamped to the range (NaN becomes 0). Nonzero values become true.
#include <limits>

#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"
#include "epilogue/cpu/loops/vector.h"

namespace epi::cpu::EPI_ISA {
namespace {

template <typename To, typename From>
EPI_INLINE To to_integer(From value) {
  // The largest integer is not representable as a float, so compare with the power of two above it.
  // NOLINTNEXTLINE(bugprone-integer-division)
  constexpr From kAbove = From(std::numeric_limits<To>::max() / 2 + 1) * From(2);
  const bool fits = value >= -kAbove && value < kAbove;
  const To clamped = value > From(0)   ? std::numeric_limits<To>::max()
                     : value < From(0) ? std::numeric_limits<To>::min()
                                       : To(0);
  return fits ? static_cast<To>(value) : clamped;
}

template <typename To, typename From>
EPI_INLINE Compute<To> converted(From value) {
  using Target = Compute<To>;
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_integral_v<Target> && std::is_floating_point_v<From>) {
    return to_integer<Target>(value);
  } else {
    return static_cast<Target>(value);
  }
}

template <typename From, typename To>
void convert(const void* x_data, int64_t x_stride, void* out_data, int64_t out_stride,
             int64_t count) {
  const From* __restrict x = static_cast<const From*>(x_data);
  To* __restrict out = static_cast<To*>(out_data);
  const auto element = [&](int64_t i, int64_t j) {
    if constexpr (std::is_same_v<From, To>) {
      out[j] = x[i];
    } else {
      store(out[j], converted<To>(load(x[i])));
    }
  };
  if (x_stride == 1 && out_stride == 1) {
    int64_t i = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
      for (; i + 2 * kLanes<float> <= count; i += 2 * kLanes<float>) {
        const FloatPair values = load_pair(x + i);
        __builtin_memcpy(out + i, &values, sizeof values);
      }
    }
#endif
    for (; i < count; ++i) element(i, i);
  } else {
    for (int64_t i = 0; i < count; ++i) element(i * x_stride, i * out_stride);
  }
}

template <typename From>
void fill_from(ConvertLoop* row) {
  row[static_cast<int>(DType::kF64)] = convert<From, double>;
  row[static_cast<int>(DType::kF32)] = convert<From, float>;
  row[static_cast<int>(DType::kBF16)] = convert<From, BFloat16>;
  row[static_cast<int>(DType::kF16)] = convert<From, Half>;
  row[static_cast<int>(DType::kI64)] = convert<From, int64_t>;
  row[static_cast<int>(DType::kI32)] = convert<From, int32_t>;
  row[static_cast<int>(DType::kBool)] = convert<From, bool>;
  row[static_cast<int>(DType::kI8)] = convert<From, int8_t>;
}

}  // namespace

void fill_convert(Loops& table) {
  fill_from<double>(table.convert[static_cast<int>(DType::kF64)]);
  fill_from<float>(table.convert[static_cast<int>(DType::kF32)]);
  fill_from<BFloat16>(table.convert[static_cast<int>(DType::kBF16)]);
  fill_from<Half>(table.convert[static_cast<int>(DType::kF16)]);
  fill_from<int64_t>(table.convert[static_cast<int>(DType::kI64)]);
  fill_from<int32_t>(table.convert[static_cast<int>(DType::kI32)]);
  fill_from<bool>(table.convert[static_cast<int>(DType::kBool)]);
  fill_from<int8_t>(table.convert[static_cast<int>(DType::kI8)]);
}

}  // namespace epi::cpu::EPI_ISA
