// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for fused pointwise kernels, as one would write it by hand. Sizes and strides are
// arguments: one kernel serves every shape. Each has two forms: `NAME` moves vectors of 16 bytes,
// `NAME_strided` single elements, for operands that are not dense, aligned, or whole vectors.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/compiler/codegen/pointwise_code.h"

namespace epi::compiler {

// Threads of a block.
inline constexpr int kCudaThreads = 256;

// What precedes the kernels (device/): element types, the walk over operands, functions of
// elements.
std::string cuda_prelude();
// Kernels use it without qualification.
std::string in_device_namespace(const std::string& kernels);

// "bf16": an element in CUDA C++.
const char* cuda_type(DType dtype);
// A line for each step of the program: its inputs are v0, v1, ..., its results follow them, all of
// them of this type.
std::string cuda_steps(const Program& program, std::string_view indent, std::string_view type);

// Elements of the vectors that the kernel moves.
int cuda_vector(const PointwiseCode& code);

// Both forms of the kernel. They take a walk of as many operands as `code` has: outputs, then
// inputs (gpu/fused_walk.h).
std::string emit_cuda_pointwise(const std::string& name, const PointwiseCode& code);

}  // namespace epi::compiler
