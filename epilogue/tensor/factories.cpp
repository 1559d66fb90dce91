// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/factories.h"

#include <algorithm>
#include <cstring>

#include "epilogue/tensor/device_memory.h"

namespace epi {
namespace {

void check_shape(std::string_view op, const Dims& shape, DType dtype) {
  for (const int64_t size : shape) {
    if (size < 0) fail(op, "sizes cannot be negative: {}", to_string(shape));
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(numel(shape), size_bytes(dtype), &bytes)) {
    fail(op, "shape {} of {} has a size in bytes that does not fit in 64 bits", to_string(shape),
         name(dtype));
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
  std::byte* data = tensor.raw_data();
  if (data == nullptr || tensor.numel() == 0) return tensor;
  if (options.device == kCpu) {
    std::memset(data, 0, static_cast<size_t>(tensor.size_bytes()));
  } else {
    device_memory(options.device).zero(options.device, data, tensor.size_bytes());
  }
  return tensor;
}

Tensor full(const Dims& shape, double value, TensorOptions options) {
  if (!can_represent(options.dtype, value)) {
    fail("full", "{} cannot be represented as {}", value, name(options.dtype));
  }
  if (options.device.type == DeviceType::kMeta) return empty(shape, options);
  const Tensor tensor = empty(shape, {options.dtype, kCpu});
  visit_dtype(options.dtype, [&]<typename T>(T) {
    std::fill_n(tensor.data<T>(), tensor.numel(), static_cast<T>(value));
  });
  return on_device(tensor, options.device);
}

Tensor arange(int64_t count, TensorOptions options) {
  if (options.device.type == DeviceType::kMeta) return empty({count}, options);
  if (!can_represent(options.dtype, static_cast<double>(count - 1))) {
    fail("arange", "{} cannot be represented as {}", count - 1, name(options.dtype));
  }
  const Tensor tensor = empty({count}, {options.dtype, kCpu});
  visit_dtype(options.dtype, [&]<typename T>(T) {
    T* data = tensor.data<T>();
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(static_cast<double>(i));
  });
  return on_device(tensor, options.device);
}

Tensor from_blob(void* data, const Dims& shape, TensorOptions options,
                 std::function<void()> release) {
  check_shape("from_blob", shape, options.dtype);
  const int64_t element = size_bytes(options.dtype);
  if (data == nullptr && numel(shape) > 0) {
    fail("from_blob", "data is null, but shape {} has elements", to_string(shape));
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(element) != 0) {
    fail("from_blob", "data is not aligned to its element size of {} bytes", element);
  }
  auto storage = Storage::wrap(options.device, data, numel(shape) * element, std::move(release));
  return {std::move(storage), {shape, contiguous_strides(shape)}, 0, options.dtype};
}

Tensor on_device(const Tensor& dense, Device device) {
  if (device == kCpu) return dense;
  const Tensor tensor = empty(dense.shape(), {dense.dtype(), device});
  if (tensor.numel() > 0) {
    device_memory(device).write(device, tensor.raw_data(), dense.raw_data(), dense.size_bytes());
  }
  return tensor;
}

}  // namespace epi
