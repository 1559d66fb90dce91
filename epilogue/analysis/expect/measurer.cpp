// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect/measurer.h"

#include <algorithm>

#include "epilogue/analysis/cost/op_cost.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

constexpr size_t kShownEvents = 5;  // if only the largest are shown

template <typename Size>
void keep_largest(std::vector<EventId>& events, Size&& size) {
  std::stable_sort(events.begin(), events.end(),
                   [&](EventId a, EventId b) { return size(a) > size(b); });
  if (events.size() > kShownEvents) events.resize(kShownEvents);
}

}  // namespace

Measurer::Measurer(const TraceIndex& index, const Subject& subject, const Rule& rule)
    : index_(index), subject_(subject), rule_(rule) {
  if (rule.claim != ClaimKind::kMeasure || rule.measure != Measure::kCount) return;
  const auto& order = index.links.tree.order;
  counts_work_ = std::none_of(order.begin(), order.end(), [&](EventId id) {
    return rule.thing.matches(index.trace.name_of(id));
  });
}

Measurer::Events Measurer::work_of(size_t instance, Category category) const {
  Events events;
  for (const EventId id : subject_.owned[instance].work) {
    if (index_.trace.category[id] == category) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::work_of(size_t instance, Kind kind) const {
  Events events;
  for (const EventId id : subject_.owned[instance].work) {
    const Kind of_work = index_.names[index_.trace.name[id]].kind;
    // A GEMV counts as a GEMM.
    if (of_work == kind || (is_gemm(kind) && is_gemm(of_work))) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::work_named(size_t instance, bool kernels_only) const {
  Events events;
  for (const EventId id : subject_.owned[instance].work) {
    const bool wanted = !kernels_only || index_.trace.category[id] == Category::kKernel;
    if (wanted && rule_.thing.matches(index_.trace.name_of(id))) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::host_named(size_t instance, std::optional<What> what) const {
  Events events;
  for (const EventId id : host_events(index_, subject_, instance)) {
    const Category category = index_.trace.category[id];
    if (id == subject_.group.instances[instance].event) continue;
    if (what == What::kCall && !trace::is_call(category)) continue;
    if (what == What::kOp && category != Category::kCpuOp) continue;
    if (rule_.thing.matches(index_.trace.name_of(id))) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::searched(size_t instance) const {
  switch (rule_.what) {
    case What::kKernel:
      return work_named(instance, true);
    case What::kOp:
    case What::kCall:
      return host_named(instance, rule_.what);
    case What::kMemcpy:
      return work_of(instance, Category::kGpuMemcpy);
    case What::kMemset:
      return work_of(instance, Category::kGpuMemset);
    case What::kSync:
      return subject_.owned[instance].syncs;
  }
  return {};
}

// The counted events. None for times and bytes.
std::optional<Measurer::Events> Measurer::counted(size_t instance) const {
  if (rule_.claim != ClaimKind::kMeasure) return searched(instance);
  switch (rule_.measure) {
    case Measure::kKernels:
      return work_of(instance, Category::kKernel);
    case Measure::kGemm:
      return work_of(instance, Kind::kGemm);
    case Measure::kPointwise:
      return work_of(instance, Kind::kPointwise);
    case Measure::kReduction:
      return work_of(instance, Kind::kReduction);
    case Measure::kMemcpy:
      return work_of(instance, Category::kGpuMemcpy);
    case Measure::kMemset:
      return work_of(instance, Category::kGpuMemset);
    case Measure::kLaunches:
      return subject_.owned[instance].launches;
    case Measure::kSyncs:
      return subject_.owned[instance].syncs;
    case Measure::kCount:
      return counts_work_ ? work_named(instance, false) : host_named(instance, std::nullopt);
    default:
      return std::nullopt;
  }
}

Measurement Measurer::measure(size_t instance) const {
  if (const auto events = counted(instance)) return {static_cast<double>(events->size()), false};
  const Measures& m = measures(instance);
  switch (rule_.measure) {
    case Measure::kCpuTime:
      return {static_cast<double>(m.cpu_ns), false};
    case Measure::kGpuTime:
      return {static_cast<double>(m.device_ns), false};
    case Measure::kBusy:
      return {m.busy(), false};
    case Measure::kIdle:
      return {rule_.unit == Unit::kShare ? m.idle() : static_cast<double>(m.idle_ns()), false};
    default:
      break;
  }
  const auto& work = subject_.owned[instance].work;
  if (work.empty()) return {0, false};
  const auto moved = moved_bytes(index_.trace, index_.links, work);
  if (!moved) return {std::nullopt, false};
  return {moved->bytes, moved->at_least};
}

bool Measurer::shows_waits() const {
  if (rule_.claim != ClaimKind::kMeasure) return false;
  const bool less = rule_.cmp == Cmp::kLess || rule_.cmp == Cmp::kLessOrEqual;
  const bool more = rule_.cmp == Cmp::kMore || rule_.cmp == Cmp::kMoreOrEqual;
  return (rule_.measure == Measure::kIdle && less) || (rule_.measure == Measure::kBusy && more);
}

std::vector<EventId> Measurer::events(size_t instance) const {
  if (auto events = counted(instance)) return std::move(*events);
  if (rule_.measure == Measure::kCpuTime) return longest_children(instance);
  if (shows_waits()) return after_longest_gaps(instance);
  return longest_work(instance);
}

Measurer::Events Measurer::longest_work(size_t instance) const {
  Events events = subject_.owned[instance].work;
  keep_largest(events, [&](EventId id) { return index_.trace.dur_ns[id]; });
  return events;
}

// Direct children of the instance.
Measurer::Events Measurer::longest_children(size_t instance) const {
  const EventId parent = subject_.group.instances[instance].event;
  Events events;
  for (const EventId id : host_events(index_, subject_, instance)) {
    if (index_.links.tree.parent[id] == parent && id != parent) events.push_back(id);
  }
  keep_largest(events, [&](EventId id) { return index_.trace.dur_ns[id]; });
  return events;
}

// The work that follows the longest idle gaps of the device, longest gap first.
Measurer::Events Measurer::after_longest_gaps(size_t instance) const {
  const trace::Trace& trace = index_.trace;
  Events events = subject_.owned[instance].work;
  std::sort(events.begin(), events.end(),
            [&](EventId a, EventId b) { return trace.ts_ns[a] < trace.ts_ns[b]; });
  std::vector<std::pair<int64_t, EventId>> gaps;
  int64_t covered_to = subject_.group.instances[instance].begin_ns;
  for (const EventId id : events) {
    gaps.emplace_back(trace.ts_ns[id] - covered_to, id);
    covered_to = std::max(covered_to, trace.end_ns(id));
  }
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Events longest;
  for (const auto& [gap_ns, id] : gaps) {
    if (gap_ns > 0 && longest.size() < kShownEvents) longest.push_back(id);
  }
  return longest;
}

}  // namespace epi::analysis
