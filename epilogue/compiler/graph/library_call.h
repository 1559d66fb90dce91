// SPDX-License-Identifier: Apache-2.0
// Runs a node as the eager kernel of its operator, into an existing tensor.
#pragma once

#include <functional>
#include <span>

#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// `tensor_of` returns an operand's tensor in the layout that the node reads. `symbols` are the
// values of the dynamic sizes. The call appears in a trace under the operator's name.
void call_library(const Node& node, const std::function<Tensor(const ValueRef&)>& tensor_of,
                  std::span<const int64_t> symbols, const Tensor& out);

}  // namespace epi::compiler
