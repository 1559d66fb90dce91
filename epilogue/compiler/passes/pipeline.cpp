// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/passes/pipeline.h"

namespace epi::compiler {

std::vector<Stage> run_passes(const Graph& captured, const PassOptions& options) {
  std::vector<Stage> stages = {{"capture", captured, to_string(captured)}};
  for (const Pass& pass : kPasses) {
    if (options.fuse < pass.min_fuse) continue;
    Graph graph = pass.run(stages.back().graph, options);
    std::string text = to_string(graph);
    if (text == stages.back().text) {
      stages.back().graph = std::move(graph);
    } else {
      stages.push_back({pass.name, std::move(graph), text});
    }
  }
  return stages;
}

}  // namespace epi::compiler
