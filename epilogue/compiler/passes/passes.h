// SPDX-License-Identifier: Apache-2.0
// The passes, each a function Graph -> Graph in its own file, and the table that defines their
// order.
#pragma once

#include "epilogue/compiler/compile_options.h"
#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/passes/custom_gemms.h"

namespace epi::compiler {

// A zero-dimensional parameter becomes a number if the operator accepts one. Operators on numbers
// alone are evaluated. x * 1, x / 1 and x - 0 become x.
Graph fold_scalars(const Graph& graph);
// Common subexpression elimination: nodes with the same operator and operands become one.
Graph merge_common(const Graph& graph);
// add(mm(a, b), c) becomes addmm(c, a, b) if the GEMM has no other reader.
Graph form_addmm(const Graph& graph);
// Operands that are views become their base with a layout: `t`, `view` and `_unsafe_view`
// disappear, and their consumers access the base's memory. A returned view stays.
Graph fold_views(const Graph& graph);
// Dead code elimination. Inputs stay, because the caller passes them, and so do writes into tensors
// of the caller.
Graph drop_dead(const Graph& graph);
// Two GEMMs of the same rows, with known weights, become one over the stacked weights. Pointwise
// operators read halves of its rows. Applies to GEMMs that stay with the library. The stacked
// weights are a copy.
Graph stack_gemms(const Graph& graph, CustomGemms custom);
// relu(addmm(...)) and gelu(addmm(...), "tanh") become _addmm_activation, unless a pointwise kernel
// reads the result: fused there, the activation costs nothing. For a library with such epilogues.
Graph form_activation(const Graph& graph, CustomGemms custom);
// Pointwise operators that read each other's results element by element become one kernel.
Graph group_pointwise(const Graph& graph);
// A GEMM that can run as a custom kernel becomes one, with the pointwise kernel that reads its
// result as its epilogue.
Graph fuse_epilogue(const Graph& graph, CustomGemms custom);
// A second GEMM of the same rows whose result the same epilogue reads joins the first: the GLU
// form, which keeps two accumulators at a time.
Graph join_gemms(const Graph& graph, CustomGemms custom);
// GEMM accumulators are rounded to their dtype before an epilogue reads them.
Graph round_gemms(const Graph& graph);

// The options that passes receive.
struct PassOptions {
  Fuse fuse = Fuse::kEpilogue;
  CustomGemms custom = CustomGemms::kNone;
  bool round_gemms = false;
};

struct Pass {
  const char* name;
  Fuse min_fuse;  // the lowest fusion level that runs it
  Graph (*run)(const Graph& graph, const PassOptions& options);
};

inline constexpr Pass kPasses[] = {
    {"fold_scalars", Fuse::kNone,
     [](const Graph& g, const PassOptions&) { return fold_scalars(g); }},
    {"merge_common", Fuse::kNone,
     [](const Graph& g, const PassOptions&) { return merge_common(g); }},
    {"form_addmm", Fuse::kNone, [](const Graph& g, const PassOptions&) { return form_addmm(g); }},
    {"fold_views", Fuse::kNone, [](const Graph& g, const PassOptions&) { return fold_views(g); }},
    {"drop_dead", Fuse::kNone, [](const Graph& g, const PassOptions&) { return drop_dead(g); }},
    {"stack_gemms", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return stack_gemms(g, o.custom); }},
    {"form_activation", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return form_activation(g, o.custom); }},
    {"group_pointwise", Fuse::kPointwise,
     [](const Graph& g, const PassOptions&) { return group_pointwise(g); }},
    {"fuse_epilogue", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return fuse_epilogue(g, o.custom); }},
    {"join_gemms", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return join_gemms(g, o.custom); }},
    {"round_gemms", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return o.round_gemms ? round_gemms(g) : g; }},
};

}  // namespace epi::compiler
