// SPDX-License-Identifier: Apache-2.0
// Functions that create tensors: on the CPU, on a device with a registered backend, or on `meta`,
// which has only shape and dtype. Values are computed on the CPU and copied to the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "epilogue/tensor/tensor.h"

namespace epi {

struct TensorOptions {
  DType dtype = DType::kF32;
  Device device = kCpu;
};

// Row-major and uninitialized.
Tensor empty(const Dims& shape, TensorOptions options = {});
Tensor zeros(const Dims& shape, TensorOptions options = {});
Tensor full(const Dims& shape, double value, TensorOptions options = {});
// 0, 1, ..., count - 1.
Tensor arange(int64_t count, TensorOptions options = {DType::kI64, kCpu});
// A row-major copy of `values`. Their number must match `shape`.
template <typename T>
Tensor from_data(std::span<const T> values, const Dims& shape);
// Wraps the caller's memory as a row-major tensor without copying. `release` runs when the last
// tensor over it is destroyed. `data` must be aligned to the element size. On a device, work on it
// is ordered by the stream that is current when an operator is called.
Tensor from_blob(void* data, const Dims& shape, TensorOptions options,
                 std::function<void()> release = {});
// Normally distributed numbers with mean 0 and standard deviation 1. A seed gives the same numbers
// on every machine: element i depends only on (seed, i), and only on operations whose rounding IEEE
// 754 defines.
Tensor randn(const Dims& shape, uint64_t seed, TensorOptions options = {});

// Moves a row-major CPU tensor to `device`. Returns the tensor itself if `device` is the CPU,
// otherwise a copy.
Tensor on_device(const Tensor& dense, Device device);

template <typename T>
Tensor from_data(std::span<const T> values, const Dims& shape) {
  if (static_cast<int64_t>(values.size()) != numel(shape)) {
    fail("from_data", "got {} values, but shape {} has {} elements", values.size(),
         to_string(shape), numel(shape));
  }
  Tensor tensor = empty(shape, {DTypeOf<T>::value, kCpu});
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

}  // namespace epi
