// SPDX-License-Identifier: Apache-2.0
// Looking up compiled code, and several compiled regions in a step.
#include <set>

#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

AdviceList advise_guards(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  Advice guards;
  guards.kind = AdviceKind::kGuards;
  Advice breaks;
  breaks.kind = AdviceKind::kBreaks;
  double guards_ns = 0;
  std::set<std::string_view> frames;  // a region called once per layer is not a graph break
  for (const trace::EventId id : input.host_events) {
    const std::string_view name = index.trace.name_of(id);
    if (name == "TorchDynamo Cache Lookup" || name == "Epilogue Guards") {
      guards.events.push_back(id);
      guards_ns += static_cast<double>(index.trace.dur_ns[id]);
    }
    if (is_compiled_region(name)) {
      breaks.events.push_back(id);
      frames.insert(name.substr(0, name.rfind('/')));
    }
  }
  if (guards.events.empty()) return {};
  guards.removes_ns = {0, guards_ns / 2, guards_ns};
  const auto count = static_cast<double>(guards.events.size());
  guards.terms = {{Term::What::kLookUps, count}, {Term::What::kTakes, guards_ns}};
  AdviceList list;
  const auto regions = static_cast<double>(frames.size());
  if (regions > 1) {
    const double each_ns = guards_ns / count;
    breaks.terms = {{Term::What::kRegionsInStep, regions}, {Term::What::kLookUpTakes, each_ns}};
    breaks.removes_ns = {0, (regions - 1) * each_ns, 2 * (regions - 1) * each_ns};
    list.push_back(std::move(breaks));
  }
  list.push_back(std::move(guards));
  return list;
}

}  // namespace epi::analysis
