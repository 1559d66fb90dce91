// SPDX-License-Identifier: Apache-2.0
// A node run as the eager kernel of its operator, into a tensor that is there.
#pragma once

#include <functional>
#include <span>

#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// `tensor_of` gives an operand's tensor as the node sees it; `symbols` are the values of free
// sizes. Appears in a trace under the operator's own name.
void call_library(const Node& node, const std::function<Tensor(const ValueRef&)>& tensor_of,
                  std::span<const int64_t> symbols, const Tensor& out);

}  // namespace epi::compiler
