// SPDX-License-Identifier: Apache-2.0
// Tensors from nothing: on the CPU, on a device whose backend is registered, or on `meta`, where
// only shape and dtype exist. Values are made on the CPU and copied.
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

// Row-major and uninitialised.
Tensor empty(const Dims& shape, TensorOptions options = {});
Tensor zeros(const Dims& shape, TensorOptions options = {});
Tensor full(const Dims& shape, double value, TensorOptions options = {});
// 0, 1, ..., count - 1.
Tensor arange(int64_t count, TensorOptions options = {DType::kI64, kCpu});
// A row-major copy of `values`, which must be as many as `shape` has.
template <typename T>
Tensor from_data(std::span<const T> values, const Dims& shape);
// The caller's memory as a row-major tensor: nothing is copied, and `release` runs when the last
// tensor over it is gone. `data` is aligned to its element; on a device, work on it follows the
// order of the stream that is current when an operator is called.
Tensor from_blob(void* data, const Dims& shape, TensorOptions options,
                 std::function<void()> release = {});
// Normal numbers, mean 0 and deviation 1. A seed gives the same numbers on every machine: element i
// depends on (seed, i) alone, and only on arithmetic that IEEE 754 fixes to the last bit.
Tensor randn(const Dims& shape, uint64_t seed, TensorOptions options = {});

// A row-major tensor of the CPU on another device: itself, or a copy.
Tensor on_device(const Tensor& dense, Device device);

template <typename T>
Tensor from_data(std::span<const T> values, const Dims& shape) {
  if (static_cast<int64_t>(values.size()) != numel(shape)) {
    fail("from_data", "{} values do not fill shape {} of {}", values.size(), to_string(shape),
         numel(shape));
  }
  Tensor tensor = empty(shape, {DTypeOf<T>::value, kCpu});
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

}  // namespace epi
