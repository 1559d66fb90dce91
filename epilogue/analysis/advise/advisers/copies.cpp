// SPDX-License-Identifier: Apache-2.0
// Copies that only change the layout.
#include <set>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/index/op_inputs.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Advice below this share of a step's device time is dropped.
constexpr double kMinShare = 0.01;
// The gap before a kernel, which disappears with the kernel.
constexpr double kGapNs = 3000;

}  // namespace

AdviceList advise_copies(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  std::set<EventId> fused;
  for (const FusionGroup& group : input.fusion.groups) {
    if (group.ops.size() > 1) fused.insert(group.work.begin(), group.work.end());
  }
  Advice one;
  one.kind = AdviceKind::kCopies;
  double ns = 0;
  for (const EventId id : input.work) {
    const EventId op = index.links.op[id];
    const bool copies = index.names[index.trace.name[id]].kind == Kind::kCopy;
    if (!copies || op == kNoEvent || fused.contains(id)) continue;
    const std::vector<OpInput> inputs = op_inputs(index.trace, op);
    const bool same_type = inputs.size() > 1 && inputs[0].is_tensor() &&
                           inputs[0].type == inputs[1].type && inputs[1].is_tensor();
    if (!same_type || inputs[0].strides == inputs[1].strides) continue;
    one.events.push_back(id);
    ns += static_cast<double>(index.trace.dur_ns[id]);
  }
  if (one.events.empty() || ns < kMinShare * device_time(index.trace, input.work)) return {};
  // Applies if a GEMM reads the result, because GEMMs accept any strides. docs/advise.md has the
  // pairs.
  one.removes_ns = {0.5 * ns, 0.9 * ns, ns + kGapNs * static_cast<double>(one.events.size())};
  one.host_events = ops_of_only(input, one.events);
  one.terms = {{Term::What::kCopies, static_cast<double>(one.events.size())},
               {Term::What::kTakes, ns}};
  return {std::move(one)};
}

}  // namespace epi::analysis
