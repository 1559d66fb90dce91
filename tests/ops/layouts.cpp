// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/layouts.h"

#include <algorithm>
#include <limits>

#include "epilogue/tensor/factories.h"
#include "tests/ops/reference.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

struct Placement {
  Dims strides;
  int64_t offset = 0;
};

Dims swapped_tail(Dims dims) {
  if (dims.rank() >= 2) std::swap(dims[dims.rank() - 1], dims[dims.rank() - 2]);
  return dims;
}

// A window into a larger tensor that starts at index 1 and ends two
// elements before the end of each dimension.
Placement window(const Dims& shape) {
  Dims outer = shape;
  for (int i = 0; i < outer.rank(); ++i) outer[i] += 3;
  const Dims strides = contiguous_strides(outer);
  int64_t offset = 5;  // also without dimensions. Odd, so addresses are misaligned.
  for (const int64_t stride : strides) offset += stride;
  return {strides, offset};
}

Placement place(const Dims& shape, LayoutKind kind) {
  Dims strides = contiguous_strides(shape);
  const int last = shape.rank() - 1;
  switch (kind) {
    case LayoutKind::kContiguous:
      return {strides};
    case LayoutKind::kTransposed:
      return {swapped_tail(contiguous_strides(swapped_tail(shape)))};
    case LayoutKind::kSliced:
      return window(shape);
    case LayoutKind::kStepped:
      for (int i = 0; i <= last; ++i) strides[i] *= 2;
      return {strides};
    case LayoutKind::kReversed:
      if (last < 0 || shape[last] == 0) return {strides};
      strides[last] = -1;
      return {strides, shape[last] - 1};
    case LayoutKind::kBroadcastOuter:
      if (last >= 0) strides[0] = 0;
      return {strides};
    case LayoutKind::kBroadcastInner:
      if (last >= 0) strides[last] = 0;
      return {strides};
  }
  return {strides};
}

// Integers from -9 to 9 from a linear congruential generator.
class SmallIntegers {
 public:
  explicit SmallIntegers(uint64_t seed) : state_(seed * 2 + 1) {}
  int64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((state_ >> 33) % 19) - 9;
  }

 private:
  uint64_t state_;
};

RefTensor random_values(const Dims& shape, DType dtype, uint64_t seed) {
  if (is_floating(dtype)) return ref::read(randn(shape, seed, {dtype, kCpu}));
  RefTensor out{shape, std::vector<double>(static_cast<size_t>(numel(shape)))};
  SmallIntegers numbers(seed);
  for (double& value : out.values) {
    const int64_t number = numbers.next();
    value = static_cast<double>(dtype == DType::kBool ? number & 1 : number);
  }
  return out;
}

template <typename T>
T element(double value) {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

void write(const RefTensor& values, const Tensor& to) {
  visit_dtype(to.dtype(), [&]<typename T>(T) {
    T* data = to.data<T>();
    ref::for_each_index(to.shape(), [&](const Dims& index, size_t i) {
      int64_t at = 0;
      for (int d = 0; d < index.rank(); ++d) at += index[d] * to.strides()[d];
      data[at] = element<T>(values.values[i]);
    });
  });
}

}  // namespace

std::string name(LayoutKind kind) {
  static constexpr const char* kNames[] = {"contiguous",    "transposed", "sliced",
                                           "stepped",       "reversed",   "broadcastOuter",
                                           "broadcastInner"};
  return kNames[static_cast<size_t>(kind)];
}

Tensor random_tensor(const Dims& shape, DType dtype, LayoutKind kind, uint64_t seed) {
  const Placement placement = place(shape, kind);
  const Layout layout{shape, placement.strides};
  const int64_t capacity = placement.offset + extent(layout).end + 3;
  const double poison = is_floating(dtype)    ? std::numeric_limits<double>::quiet_NaN()
                        : dtype == DType::kI8 ? 111
                                              : 77777;
  const Tensor storage = full({capacity}, poison, {dtype, kCpu});
  const Tensor out(storage.storage(), layout, placement.offset, dtype);
  write(random_values(shape, dtype, seed), out);
  return on_test_device(out);
}

Tensor tensor_of(const std::vector<double>& values, const Dims& shape, DType dtype) {
  const Tensor out = empty(shape, {dtype, kCpu});
  EPI_CHECK(static_cast<int64_t>(values.size()) == out.numel());
  write({shape, values}, out);
  return on_test_device(out);
}

Tensor on_meta(const Tensor& x) {
  return {Storage::allocate(kMeta, x.storage()->size_bytes()), x.layout(), x.offset(), x.dtype()};
}

}  // namespace epi
