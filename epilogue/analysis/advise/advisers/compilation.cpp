// SPDX-License-Identifier: Apache-2.0
// Compilation inside steps, and regions that are compiled more than once.
#include <map>
#include <set>
#include <string>

#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {
namespace {

using trace::EventId;

// A region that ran in several variants: "Torch-Compiled Region: 0/0" and "0/1".
AdviceList recompiled_regions(const TraceIndex& index) {
  std::vector<bool> is_region(index.trace.names.size());  // by name: few names out of many events
  for (trace::NameId name = 0; name < is_region.size(); ++name) {
    is_region[name] = is_compiled_region(index.trace.names[name]);
  }
  Advice one;
  one.kind = AdviceKind::kRecompiles;
  std::map<std::string_view, std::set<std::string_view>> variants;
  for (const EventId id : index.links.tree.order) {
    if (!is_region[index.trace.name[id]]) continue;
    const std::string_view name = index.trace.name_of(id);
    const size_t slash = name.rfind('/');
    if (slash == std::string_view::npos) continue;
    if (variants[name.substr(0, slash)].insert(name.substr(slash + 1)).second) {
      one.events.push_back(id);
    }
  }
  if (one.events.size() <= variants.size()) return {};
  one.terms = {{Term::What::kRegions, static_cast<double>(variants.size())},
               {Term::What::kVariants, static_cast<double>(one.events.size())}};
  return {std::move(one)};
}

}  // namespace

AdviceList advise_compilation(const AdviserInput& input) {
  AdviceList list = recompiled_regions(input.index);
  Advice compiling;
  compiling.kind = AdviceKind::kCompiling;
  compiling.events = compilations(input.models);
  if (compiling.events.empty()) return list;
  compiling.terms = {{Term::What::kCompilations, static_cast<double>(compiling.events.size())},
                     {Term::What::kTakesInSteps, device_time(input.index.trace, compiling.events)}};
  list.push_back(std::move(compiling));
  return list;
}

}  // namespace epi::analysis
