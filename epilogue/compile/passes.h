// SPDX-License-Identifier: Apache-2.0
// The passes, each a function Graph -> Graph in a file of its own, in the order in which they run.
#pragma once

#include "epilogue/compile/graph.h"

namespace epi::compiler {

// What is computed twice is computed once: nodes of the same operator and operands.
Graph merge_common(const Graph& graph);
// add(mm(a, b), c) becomes addmm(c, a, b), where nobody else reads the product.
Graph form_addmm(const Graph& graph);
// Operands that are views become their base with a layout: `t`, `view` and `_unsafe_view` are gone,
// and their consumers walk the base's memory. A view that is returned stays.
Graph fold_views(const Graph& graph);
// What nothing reads is not computed. Inputs stay, as the caller passes them.
Graph drop_dead(const Graph& graph);

}  // namespace epi::compiler
