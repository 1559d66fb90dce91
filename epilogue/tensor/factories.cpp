// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/factories.h"

#include <algorithm>
#include <cstring>

namespace epi {
namespace {

void check_shape(std::string_view op, const Dims& shape, DType dtype) {
  for (const int64_t size : shape) {
    if (size < 0) fail(op, "sizes cannot be negative: {}", to_string(shape));
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(numel(shape), size_bytes(dtype), &bytes)) {
    fail(op, "shape {} of {} is larger than 64 bits count", to_string(shape), name(dtype));
  }
}

}  // namespace

Tensor empty(const Dims& shape, TensorOptions options) {
  check_shape("empty", shape, options.dtype);
  auto storage = Storage::allocate(options.device, numel(shape) * size_bytes(options.dtype));
  return {std::move(storage), {shape, contiguous_strides(shape)}, 0, options.dtype};
}

Tensor zeros(const Dims& shape, TensorOptions options) {
  Tensor tensor = empty(shape, options);
  if (std::byte* data = tensor.raw_data()) {
    std::memset(data, 0, static_cast<size_t>(tensor.size_bytes()));
  }
  return tensor;
}

Tensor full(const Dims& shape, double value, TensorOptions options) {
  if (!holds(options.dtype, value)) {
    fail("full", "{} is no value of {}", value, name(options.dtype));
  }
  Tensor tensor = empty(shape, options);
  if (tensor.raw_data() == nullptr) return tensor;
  visit_dtype(options.dtype, [&]<typename T>(T) {
    std::fill_n(tensor.data<T>(), tensor.numel(), static_cast<T>(value));
  });
  return tensor;
}

Tensor arange(int64_t count, TensorOptions options) {
  Tensor tensor = empty({count}, options);
  if (tensor.raw_data() == nullptr) return tensor;
  visit_dtype(options.dtype, [&]<typename T>(T) {
    T* data = tensor.data<T>();
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(static_cast<double>(i));
  });
  return tensor;
}

}  // namespace epi
