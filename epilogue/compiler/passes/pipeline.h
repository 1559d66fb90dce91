// SPDX-License-Identifier: Apache-2.0
// The passes in their order, and the graphs that they left: of those that changed something.
#pragma once

#include <string>
#include <vector>

#include "epilogue/compiler/compile.h"
#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/passes/own_products.h"

namespace epi::compiler {

struct Stage {
  std::string pass;
  Graph graph;
  std::string text;  // printed
};

// What a device has.
OwnProducts own_products(Device device);

// From the captured graph on; the last one is what is compiled.
std::vector<Stage> run_passes(const Graph& captured, Fuse fuse, OwnProducts own);

}  // namespace epi::compiler
