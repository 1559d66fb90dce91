// SPDX-License-Identifier: Apache-2.0
// Code for one fused pointwise kernel. It processes one run along the innermost dimension. The
// caller iterates over the other dimensions (cpu/strided_walk.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/program.h"

namespace epi::compiler {

// How an input advances along the run: not at all, element by element, or by its stride.
enum class Along : uint8_t { kBroadcast, kDense, kStrided };

struct PointwiseInput {
  DType dtype = DType::kF32;
  Along along = Along::kDense;
};

struct PointwiseCode {
  Program program;
  std::vector<DType> outputs;  // dense
  std::vector<PointwiseInput> inputs;
};

// `data` and `strides` belong to the outputs, then the inputs. The first `as_compiled` elements
// have the strides for which the code was compiled, the rest use the given strides.
using PointwiseFunction = void (*)(std::byte* const* data, const int64_t* strides,
                                   int64_t as_compiled, int64_t count);

// Returns the IR of a PointwiseFunction.
std::string emit_pointwise(const std::string& name, const PointwiseCode& code,
                           const Target& target);

}  // namespace epi::compiler
