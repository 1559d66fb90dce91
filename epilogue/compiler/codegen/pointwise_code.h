// SPDX-License-Identifier: Apache-2.0
// Code for one fused pointwise kernel. It works on one run along the innermost dimension; whoever
// calls it walks the others (cpu/strided_walk.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/program.h"

namespace epi::compiler {

// How an input moves along the run: it stands still, goes element by element, or by its stride.
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

// `data` and `strides` are of the outputs, then of the inputs. The first `as_compiled` elements
// have the strides that the code was made for, the others those that are given.
using PointwiseFunction = void (*)(std::byte* const* data, const int64_t* strides,
                                   int64_t as_compiled, int64_t count);

// The IR of a function of this type.
std::string emit_pointwise(const std::string& name, const PointwiseCode& code,
                           const Target& target);

}  // namespace epi::compiler
