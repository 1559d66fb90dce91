// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/passes/pipeline.h"

#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

struct Pass {
  const char* name;
  Graph (*run)(const Graph&, OwnProducts);
  Fuse from;  // the weakest fusion that has it
};

// A pass that does not ask about products.
template <Graph (*kRun)(const Graph&)>
Graph plain(const Graph& graph, OwnProducts) {
  return kRun(graph);
}

constexpr Pass kPasses[] = {
    {"fold_scalars", plain<fold_scalars>, Fuse::kNone},
    {"merge_common", plain<merge_common>, Fuse::kNone},
    {"form_addmm", plain<form_addmm>, Fuse::kNone},
    {"fold_views", plain<fold_views>, Fuse::kNone},
    {"drop_dead", plain<drop_dead>, Fuse::kNone},
    {"stack_products", stack_products, Fuse::kEpilogue},
    {"form_activation", form_activation, Fuse::kEpilogue},
    {"group_pointwise", plain<group_pointwise>, Fuse::kPointwise},
    {"fuse_epilogue", fuse_epilogue, Fuse::kEpilogue},
    {"join_products", join_products, Fuse::kEpilogue},
};

}  // namespace

OwnProducts own_products(Device device) {
  if (device == kCpu) return OwnProducts::kPacked;
  return gpu_has_own_products(device.index) ? OwnProducts::kHopper : OwnProducts::kNone;
}

std::vector<Stage> run_passes(const Graph& captured, Fuse fuse, OwnProducts own) {
  std::vector<Stage> stages = {{"capture", captured, to_string(captured)}};
  for (const Pass& pass : kPasses) {
    if (fuse < pass.from) continue;
    Graph graph = pass.run(stages.back().graph, own);
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
