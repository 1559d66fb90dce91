// SPDX-License-Identifier: Apache-2.0
// The passes, each a function Graph -> Graph in a file of its own, and the table of them in the
// order in which they run.
#pragma once

#include "epilogue/compiler/compile_options.h"
#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/passes/custom_gemms.h"

namespace epi::compiler {

// A parameter of one element becomes a number where an operator takes one; operators on numbers
// alone are computed now; x * 1, x / 1 and x - 0 are x.
Graph fold_scalars(const Graph& graph);
// What is computed twice is computed once: nodes of the same operator and operands.
Graph merge_common(const Graph& graph);
// add(mm(a, b), c) becomes addmm(c, a, b), where nobody else reads the GEMM.
Graph form_addmm(const Graph& graph);
// Operands that are views become their base with a layout: `t`, `view` and `_unsafe_view` are gone,
// and their consumers walk the base's memory. A view that is returned stays.
Graph fold_views(const Graph& graph);
// What nothing reads is not computed. Inputs stay, as the caller passes them.
Graph drop_dead(const Graph& graph);
// Two GEMMs of the same rows, with known weights, become one over the weights stacked: pointwise
// operators read halves of its rows. For GEMMs that stay with the library; the stacked weights
// are a copy.
Graph stack_gemms(const Graph& graph, CustomGemms own);
// relu(addmm(...)) and gelu(addmm(...), "tanh") become _addmm_activation, where no pointwise kernel
// reads the result: that would have the activation for free. For a library with such epilogues.
Graph form_activation(const Graph& graph, CustomGemms own);
// Pointwise operators that read each other's results in order become one kernel.
Graph group_pointwise(const Graph& graph);
// A GEMM that can be one of our own becomes it, and takes the pointwise kernel that reads its
// result as its epilogue.
Graph fuse_epilogue(const Graph& graph, CustomGemms own);
// A second GEMM of the same rows whose result the same epilogue reads joins the first: the
// GLU form, with two sums at a time.
Graph join_gemms(const Graph& graph, CustomGemms own);
// Sums of GEMMs are rounded to their dtype before an epilogue reads them.
Graph round_gemms(const Graph& graph);

// What a pass may ask.
struct PassOptions {
  Fuse fuse = Fuse::kEpilogue;
  CustomGemms own = CustomGemms::kNone;
  bool round_gemms = false;
};

struct Pass {
  const char* name;
  Fuse from;  // the weakest fusion that has it
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
     [](const Graph& g, const PassOptions& o) { return stack_gemms(g, o.own); }},
    {"form_activation", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return form_activation(g, o.own); }},
    {"group_pointwise", Fuse::kPointwise,
     [](const Graph& g, const PassOptions&) { return group_pointwise(g); }},
    {"fuse_epilogue", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return fuse_epilogue(g, o.own); }},
    {"join_gemms", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return join_gemms(g, o.own); }},
    {"round_gemms", Fuse::kEpilogue,
     [](const Graph& g, const PassOptions& o) { return o.round_gemms ? round_gemms(g) : g; }},
};

}  // namespace epi::compiler
