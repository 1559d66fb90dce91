// SPDX-License-Identifier: Apache-2.0
// Runs the passes and keeps each graph that a pass changed.
#pragma once

#include <string>
#include <vector>

#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {

struct Stage {
  std::string pass;
  Graph graph;
  std::string text;  // the printed graph
};

// The first stage is the captured graph, the last is compiled.
std::vector<Stage> run_passes(const Graph& captured, const PassOptions& options);

}  // namespace epi::compiler
