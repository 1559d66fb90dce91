// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/pipeline.h"

#include "epilogue/compile/passes.h"

namespace epi::compiler {
namespace {

struct Pass {
  const char* name;
  Graph (*run)(const Graph&);
  Fuse from;                  // the weakest fusion that has it
  bool own_products = false;  // needs products of our own
};

constexpr Pass kPasses[] = {
    {"fold_scalars", fold_scalars, Fuse::kNone},
    {"merge_common", merge_common, Fuse::kNone},
    {"form_addmm", form_addmm, Fuse::kNone},
    {"fold_views", fold_views, Fuse::kNone},
    {"drop_dead", drop_dead, Fuse::kNone},
    {"group_pointwise", group_pointwise, Fuse::kPointwise},
    {"fuse_epilogue", fuse_epilogue, Fuse::kEpilogue, true},
    {"join_products", join_products, Fuse::kEpilogue, true},
};

}  // namespace

std::vector<Stage> run_passes(const Graph& captured, Fuse fuse, DeviceType device) {
  std::vector<Stage> stages = {{"capture", captured, to_string(captured)}};
  for (const Pass& pass : kPasses) {
    if (fuse < pass.from || (pass.own_products && device != DeviceType::kCpu)) continue;
    Graph graph = pass.run(stages.back().graph);
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
