// SPDX-License-Identifier: Apache-2.0
// The passes in their order, and the graphs that they left: of those that changed something.
#pragma once

#include <string>
#include <vector>

#include "epilogue/compile/compile.h"
#include "epilogue/compile/graph.h"

namespace epi::compiler {

struct Stage {
  std::string pass;
  Graph graph;
  std::string text;  // printed
};

// From the captured graph on; the last one is what is compiled. On a GPU products stay with the
// library, and other passes are for them.
std::vector<Stage> run_passes(const Graph& captured, Fuse fuse, DeviceType device);

}  // namespace epi::compiler
