// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/plan_text.h"

#include <fmt/format.h>

namespace epi::compiler {
namespace {

std::string values_text(const CompiledGraph& compiled, size_t kernel) {
  std::string out;
  for (const ArenaValue& one : compiled.memory.values) {
    if (one.kernel != kernel) continue;
    if (one.value < 0) {
      out += fmt::format("  packs its rows in slot {}\n", one.slot);
      continue;
    }
    const Node& node = compiled.graph[one.value];
    out += fmt::format("  writes {}{} to slot {}, last read by kernel {}\n", name(node.dtype),
                       to_string(node.shape), one.slot, one.last);
  }
  return out;
}

}  // namespace

std::string plan_text(const CompiledGraph& compiled) {
  std::string out;
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    const KernelText text = compiled.backend->describe(i);
    out += fmt::format("kernel {}: {}\n{}{}{}", i, compiled.backend->names()[i], text.choice,
                       values_text(compiled, i), text.weights);
  }
  const int slots = compiled.memory.slots;
  return out + fmt::format("arena: {} slot{}\n", slots, slots == 1 ? "" : "s");
}

}  // namespace epi::compiler
