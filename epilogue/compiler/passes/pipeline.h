// SPDX-License-Identifier: Apache-2.0
// Runs the passes; keeps the graphs of those that changed something.
#pragma once

#include <string>
#include <vector>

#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {

struct Stage {
  std::string pass;
  Graph graph;
  std::string text;  // printed
};

// Starts from the captured graph; the last one is what is compiled.
std::vector<Stage> run_passes(const Graph& captured, const PassOptions& options);

}  // namespace epi::compiler
