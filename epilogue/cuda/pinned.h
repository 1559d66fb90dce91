// SPDX-License-Identifier: Apache-2.0
// Pinned (page-locked) host memory. The device copies to and from it without the CPU, so a copy can
// overlap other work. Freed blocks are cached and reused once the copies that use them are done.
#pragma once

#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

// A row-major, uninitialised tensor on the CPU. Throws `Error` if no memory can be pinned.
Tensor empty_pinned(const Dims& shape, DType dtype = DType::kF32);
bool is_pinned(const Tensor& tensor);

// Records that a copy on `stream` uses `tensor`, so that its block is not reused before the copy is
// done. Does nothing if `tensor` is not pinned.
void note_pinned_use(const Tensor& tensor, const Stream& stream);

}  // namespace epi::cuda
