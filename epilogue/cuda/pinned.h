// SPDX-License-Identifier: Apache-2.0
// Page-locked memory of the CPU: the device copies from and to it without the CPU's help, so that a
// copy can run beside other work. Blocks are kept and handed out again once the copies that use
// them are done.
#pragma once

#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

// A row-major, uninitialised tensor on the CPU. Throws `Error` where no memory can be locked.
Tensor empty_pinned(const Dims& shape, DType dtype = DType::kF32);
bool is_pinned(const Tensor& tensor);

// A copy on `stream` uses the bytes of `tensor`, if it is pinned: its block is handed out again
// only after that.
void note_pinned_use(const Tensor& tensor, const Stream& stream);
// Gives every free block back to the system.
void release_cached_pinned();

}  // namespace epi::cuda
