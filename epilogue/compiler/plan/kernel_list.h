// SPDX-License-Identifier: Apache-2.0
// The kernels of a graph whose nodes have been grouped, in the order in which they run: what each
// reads and writes, and the arithmetic between.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"
#include "epilogue/compiler/codegen/pointwise_code.h"
#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// A value as a kernel walks it: elements from the value's first, and strides.
struct Access {
  ValueId value = 0;
  SymSize offset{0};
  SymDims strides;
};

// One operator of the library.
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
  Access x;                      // strides of rows and of k
  std::vector<ValueId> weights;  // parameters, and how each is seen, [k, n]
  std::vector<View> weight_views;
  std::vector<Access> operands;  // strides in the code
};

// It does more than multiply once.
inline bool has_epilogue(const GemmKernel& gemm) { return !gemm.code.program.steps.empty(); }

struct Kernel {
  std::string name;  // of generated code, without its number; of the library's, the operator
  std::variant<LibraryKernel, PointwiseKernel, GemmKernel> body;
  std::vector<ValueId> outputs;  // row-major
  std::vector<ValueId> inputs;   // each once
};

std::vector<Kernel> list_kernels(const Graph& graph);

// "_unsafe_view_gelu_mul": the operators of a group, sorted, each once, with views of its pointwise
// operands.
std::string fused_name(const Graph& graph, const std::vector<ValueId>& nodes);

}  // namespace epi::compiler
