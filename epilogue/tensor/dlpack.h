// SPDX-License-Identifier: Apache-2.0
// DLPack in and out without copying: both sides see the same bytes, and each keeps them alive.
#pragma once

#include <dlpack/dlpack.h>

#include "epilogue/tensor/tensor.h"

namespace epi {

// How DLPack writes them.
DLDataType dl_data_type(DType dtype);
DLDevice dl_device(Device device);

// A managed tensor over the same bytes; whoever takes it calls its deleter once. Not for `meta`.
DLManagedTensor* to_dlpack(const Tensor& tensor);

// Takes `managed` over: its deleter runs when the last tensor over the bytes is gone, or before an
// `Error` leaves this function. Strides may be null (row-major). Memory of the CPU or of a CUDA
// device; on a device, both sides order their work by the streams they use.
Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace epi
