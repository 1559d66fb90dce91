// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/pipeline.h"

#include "epilogue/compile/passes.h"

namespace epi::compiler {
namespace {

// Whose products a pass is for: the CPU's, which are our own, or a GPU's, which are the library's.
enum class Products : uint8_t { kAny, kOwn, kLibrary };

struct Pass {
  const char* name;
  Graph (*run)(const Graph&);
  Fuse from;  // the weakest fusion that has it
  Products products = Products::kAny;
};

constexpr Pass kPasses[] = {
    {"fold_scalars", fold_scalars, Fuse::kNone},
    {"merge_common", merge_common, Fuse::kNone},
    {"form_addmm", form_addmm, Fuse::kNone},
    {"fold_views", fold_views, Fuse::kNone},
    {"drop_dead", drop_dead, Fuse::kNone},
    {"stack_products", stack_products, Fuse::kEpilogue, Products::kLibrary},
    {"form_activation", form_activation, Fuse::kEpilogue, Products::kLibrary},
    {"group_pointwise", group_pointwise, Fuse::kPointwise},
    {"fuse_epilogue", fuse_epilogue, Fuse::kEpilogue, Products::kOwn},
    {"join_products", join_products, Fuse::kEpilogue, Products::kOwn},
};

}  // namespace

std::vector<Stage> run_passes(const Graph& captured, Fuse fuse, DeviceType device) {
  const Products whose = device == DeviceType::kCpu ? Products::kOwn : Products::kLibrary;
  std::vector<Stage> stages = {{"capture", captured, to_string(captured)}};
  for (const Pass& pass : kPasses) {
    if (fuse < pass.from || (pass.products != Products::kAny && pass.products != whose)) continue;
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
