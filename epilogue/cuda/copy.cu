// SPDX-License-Identifier: Apache-2.0
// Copies with conversion between all dtypes. Floating-point values are truncated to integers and
// clamped to the range (NaN becomes 0). Any nonzero value becomes true.
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

template <typename To, typename From>
__device__ __forceinline__ To to_integer(From value) {
  // The largest integer may not be representable in From, so compare with the power of two above
  // it.
  constexpr From kAbove = From(Limits<To>::kMax / 2 + 1) * From(2);
  if (value >= -kAbove && value < kAbove) return static_cast<To>(value);
  return value > From(0) ? Limits<To>::kMax : value < From(0) ? Limits<To>::kMin : To(0);
}

template <typename From, typename To>
struct Convert {
  static constexpr int kInputs = 1;
  using In = From;
  using Out = To;
  __device__ __forceinline__ To operator()(Compute<From> x) const {
    using Source = Compute<From>;
    if constexpr (std::is_same_v<To, bool>) {
      return x != Source(0);
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<Source>) {
      return to_integer<To>(x);
    } else {
      return rounded<To>(static_cast<Compute<To>>(x));
    }
  }
};

// Copies the bytes unchanged.
template <typename T>
struct Copy {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(T x) const { return x; }
};

void launch_same(int element_bytes, const StridedShape& shape, cudaStream_t stream) {
  switch (element_bytes) {
    case 1:
      return launch_pointwise(shape, Copy<uint8_t>{}, stream);
    case 2:
      return launch_pointwise(shape, Copy<uint16_t>{}, stream);
    case 4:
      return launch_pointwise(shape, Copy<uint32_t>{}, stream);
    default:
      return launch_pointwise(shape, Copy<uint64_t>{}, stream);
  }
}

template <typename From>
void launch_from(DType to, const StridedShape& shape, cudaStream_t stream) {
  visit_all(to, [&](auto target) {
    using To = typename decltype(target)::type;
    if constexpr (!std::is_same_v<From, To>) {
      launch_pointwise<false>(shape, Convert<From, To>{}, stream);
    }
  });
}

void launch_copy(DType from, DType to, const StridedShape& shape, cudaStream_t stream) {
  if (from == to) return launch_same(shape.element_bytes[0], shape, stream);
  visit_all(from,
            [&](auto source) { launch_from<typename decltype(source)::type>(to, shape, stream); });
}

}  // namespace epi::cuda
