// SPDX-License-Identifier: Apache-2.0
// Imports and exports DLPack tensors without copying. Both sides share the same bytes, and each
// keeps them alive.
#pragma once

#include <dlpack/dlpack.h>

#include "epilogue/tensor/tensor.h"

namespace epi {

// The DLPack equivalents.
DLDataType dl_data_type(DType dtype);
DLDevice dl_device(Device device);

// A managed tensor over the same bytes. The consumer must call its deleter once. `meta` tensors are
// not supported.
DLManagedTensor* to_dlpack(const Tensor& tensor);

// Takes ownership of `managed`: its deleter runs when the last tensor over the bytes is destroyed,
// or before this function throws an `Error`. Strides may be null (row-major). Supports CPU and CUDA
// memory. On a CUDA device, both sides must order their work through the streams they use.
Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace epi
