// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/pipeline.h"

#include "epilogue/compile/passes.h"

namespace epi::compiler {
namespace {

struct Pass {
  const char* name;
  Graph (*run)(const Graph&);
  Fuse from;  // the weakest fusion that has it
};

constexpr Pass kPasses[] = {
    {"fold_scalars", fold_scalars, Fuse::kNone},
    {"merge_common", merge_common, Fuse::kNone},
    {"form_addmm", form_addmm, Fuse::kNone},
    {"fold_views", fold_views, Fuse::kNone},
    {"drop_dead", drop_dead, Fuse::kNone},
    {"group_pointwise", group_pointwise, Fuse::kPointwise},
    {"fuse_epilogue", fuse_epilogue, Fuse::kEpilogue},
    {"join_products", join_products, Fuse::kEpilogue},
};

}  // namespace

std::vector<Stage> run_passes(Graph captured, Fuse fuse) {
  std::vector<Stage> stages;
  stages.push_back({"capture", std::move(captured)});
  for (const Pass& pass : kPasses) {
    if (fuse >= pass.from) stages.push_back({pass.name, pass.run(stages.back().graph)});
  }
  return stages;
}

}  // namespace epi::compiler
