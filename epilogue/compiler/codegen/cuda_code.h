// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for fused pointwise kernels, in readable form. Sizes and strides are arguments: one
// kernel serves every shape. Each has two forms: `NAME` moves vectors of 16 bytes. `NAME_strided`
// moves single elements, for operands that are not dense, not aligned, or not a whole number of
// vectors.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/compiler/codegen/pointwise_code.h"

namespace epi::compiler {

// Threads per block.
inline constexpr int kCudaThreads = 256;

// The code that precedes the kernels (device/): element types, the walk over operands, and the
// pointwise functions.
std::string cuda_prelude();
// Wraps kernels in the device namespace, so that they use the prelude unqualified.
std::string in_device_namespace(const std::string& kernels);

// The element type in CUDA C++: "bf16".
const char* cuda_type(DType dtype);
// One line per step of the program. Inputs are v0, v1, ..., followed by the results, all of the
// given type.
std::string cuda_steps(const Program& program, std::string_view indent, std::string_view type);

// Number of elements per vector of the kernel.
int cuda_vector(const PointwiseCode& code);

// Both forms of the kernel. Their argument is a walk over the operands of `code`: outputs, then
// inputs (gpu/fused_walk.h).
std::string emit_cuda_pointwise(const std::string& name, const PointwiseCode& code);

}  // namespace epi::compiler
