// SPDX-License-Identifier: Apache-2.0
// Recognizes sums of symbols in a captured graph. A single capture shows numbers, which factor into
// products of sizes, but s0 + 1 looks like any other number. A second capture with another value of
// s0 shows which numbers grow with it, and how fast.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// A graph captured with other values of the symbols, and with plain numbers.
struct OtherCapture {
  std::vector<int64_t> values;
  Graph graph;
};

// The graph with sums in place of numbers, such that all captures agree. `others` starts with one
// capture per symbol, in which only that symbol differs from its hint. nullopt if there are no such
// sums.
std::optional<Graph> with_sums(const Graph& captured, const SymbolHints& hints,
                               const std::vector<OtherCapture>& others);

}  // namespace epi::compiler
