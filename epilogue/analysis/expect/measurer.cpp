// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect/measurer.h"

#include <algorithm>

#include "epilogue/analysis/cost/op_cost.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

constexpr size_t kShownEvents = 5;  // if only the largest are shown

std::vector<EventId> to_events(std::span<const EventId> events) {
  return {events.begin(), events.end()};
}

template <typename Size>
void keep_largest(std::vector<EventId>& events, Size&& size) {
  std::stable_sort(events.begin(), events.end(),
                   [&](EventId a, EventId b) { return size(a) > size(b); });
  if (events.size() > kShownEvents) events.resize(kShownEvents);
}

}  // namespace

Measurer::Measurer(const StepModels& models, const StepGroup& subject, const Rule& rule)
    : models_(models), index_(models.index()), subject_(subject), rule_(rule) {
  if (rule.claim != ClaimKind::kMeasure || rule.measure != Measure::kCount) return;
  const auto& order = index_.links.tree.order;
  counts_work_ = std::none_of(order.begin(), order.end(), [&](EventId id) {
    return rule.thing.matches(index_.trace.name_of(id));
  });
}

Measurer::Events Measurer::host_events_of(size_t instance) const {
  const StepModel& step = subject_.steps[instance];
  return host_events(index_, step.event, step.host, subject_.of_ops);
}

Measurer::Events Measurer::work_of(size_t instance, Category category) const {
  Events events;
  for (const EventId id : subject_.steps[instance].owned.work) {
    if (index_.trace.category[id] == category) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::work_of(size_t instance, Kind kind) const {
  Events events;
  for (const EventId id : subject_.steps[instance].owned.work) {
    const Kind of_work = index_.names[index_.trace.name[id]].kind;
    // A GEMV counts as a GEMM.
    if (of_work == kind || (is_gemm(kind) && is_gemm(of_work))) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::work_named(size_t instance, bool kernels_only) const {
  Events events;
  for (const EventId id : subject_.steps[instance].owned.work) {
    const bool wanted = !kernels_only || index_.trace.category[id] == Category::kKernel;
    if (wanted && rule_.thing.matches(index_.trace.name_of(id))) events.push_back(id);
  }
  return events;
}

Measurer::Events Measurer::host_named(size_t instance, std::optional<What> what) const {
  Events events;
  for (const EventId id : host_events_of(instance)) {
    const Category category = index_.trace.category[id];
    if (id == subject_.steps[instance].event) continue;
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
      return to_events(subject_.steps[instance].owned.syncs);
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
      return to_events(subject_.steps[instance].owned.launches);
    case Measure::kSyncs:
      return to_events(subject_.steps[instance].owned.syncs);
    case Measure::kCount:
      return counts_work_ ? work_named(instance, false) : host_named(instance, std::nullopt);
    default:
      return std::nullopt;
  }
}

Measurement Measurer::measure(size_t instance) const {
  if (const auto events = counted(instance)) return {static_cast<double>(events->size()), false};
  const StepModel& step = subject_.steps[instance];
  switch (rule_.measure) {
    case Measure::kCpuTime:
      return {static_cast<double>(step.cpu_ns), false};
    case Measure::kGpuTime:
      return {static_cast<double>(step.gpu_ns), false};
    case Measure::kBusy:
      return {step.busy_share(), false};
    case Measure::kIdle:
      return {
          rule_.unit == RuleUnit::kShare ? step.idle_share() : static_cast<double>(step.idle_ns),
          false};
    default:
      break;
  }
  const auto& work = step.owned.work;
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
  Events events = to_events(subject_.steps[instance].owned.work);
  keep_largest(events, [&](EventId id) { return index_.trace.dur_ns[id]; });
  return events;
}

// Direct children of the instance.
Measurer::Events Measurer::longest_children(size_t instance) const {
  const EventId parent = subject_.steps[instance].event;
  Events events;
  for (const EventId id : host_events_of(instance)) {
    if (index_.links.tree.parent[id] == parent && id != parent) events.push_back(id);
  }
  keep_largest(events, [&](EventId id) { return index_.trace.dur_ns[id]; });
  return events;
}

// The work that follows the longest idle intervals of the device, longest first.
Measurer::Events Measurer::after_longest_gaps(size_t instance) const {
  std::vector<std::pair<int64_t, EventId>> waits;
  for (const IdleGap& gap : models_.gaps(subject_.steps[instance])) {
    if (gap.waiting == trace::kNoEvent) continue;
    if (waits.empty() || waits.back().second != gap.waiting) waits.emplace_back(0, gap.waiting);
    waits.back().first += gap.ns();
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Events longest;
  for (const auto& [ns, id] : waits) {
    if (longest.size() < kShownEvents) longest.push_back(id);
  }
  return longest;
}

}  // namespace epi::analysis
