// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/passes/pipeline.h"

#include "epilogue/compiler/gpu/gpu_gemm.h"

namespace epi::compiler {
OwnProducts own_products(Device device) {
  if (device == kCpu) return OwnProducts::kPacked;
  return gpu_has_own_products(device.index) ? OwnProducts::kHopper : OwnProducts::kNone;
}

std::vector<Stage> run_passes(const Graph& captured, const PassOptions& options) {
  std::vector<Stage> stages = {{"capture", captured, to_string(captured)}};
  for (const Pass& pass : kPasses) {
    if (options.fuse < pass.from) continue;
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
