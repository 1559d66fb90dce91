// SPDX-License-Identifier: Apache-2.0
// The kernels of a grouped graph, in execution order: the inputs, outputs and arithmetic of each.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"
#include "epilogue/compiler/codegen/pointwise_code.h"
#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// How a kernel accesses a value: an element offset from the start of the value, and strides.
struct Access {
  ValueId value = 0;
  SymSize offset{0};
  SymDims strides;
};

// An operator that runs in the library.
struct LibraryKernel {
  ValueId node = 0;
};

struct PointwiseKernel {
  PointwiseCode code;
  SymDims shape;
  std::vector<Access> inputs;
};

struct GemmKernel {
  GemmCode code;
  SymSize rows{1};
  Access x;                        // strides of rows and of k
  std::vector<ValueId> weights;    // parameters
  std::vector<View> weight_views;  // of each weight, as [k, n]
  std::vector<ValueRef> scales;    // of weights with one for every group of k: [n, groups]
  std::vector<Access> operands;    // their strides are in `code`
};

// Whether the kernel does more than a single GEMM.
inline bool has_epilogue(const GemmKernel& gemm) { return !gemm.code.program.steps.empty(); }

struct Kernel {
  std::string name;  // generated kernels: without the number; library kernels: the operator
  std::variant<LibraryKernel, PointwiseKernel, GemmKernel> body;
  std::vector<ValueId> outputs;  // row-major
  std::vector<ValueId> inputs;   // without duplicates
};

std::vector<Kernel> list_kernels(const Graph& graph);

// "_unsafe_view_gelu_mul": the operators of a group, sorted and unique, including the views of its
// pointwise operands.
std::string fused_name(const Graph& graph, const std::vector<ValueId>& nodes);

}  // namespace epi::compiler
