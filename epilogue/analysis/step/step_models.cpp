// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/step/step_models.h"

#include <algorithm>
#include <array>
#include <utility>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

enum class WorkPart : uint8_t { kCompute, kCommunication, kCopies };

struct PartInterval {
  Interval when;
  WorkPart part;
};

WorkPart part_of(const TraceIndex& index, EventId work) {
  if (index.trace.category[work] != Category::kKernel) return WorkPart::kCopies;
  const Kind kind = index.names[index.trace.name[work]].kind;
  return kind == Kind::kComm ? WorkPart::kCommunication : WorkPart::kCompute;
}

// The length of a union of intervals that are added by start.
class UnionLength {
 public:
  explicit UnionLength(int64_t from_ns) : covered_to_(from_ns) {}
  void add(const Interval& one) {
    ns_ += std::max<int64_t>(0, one.end - std::max(covered_to_, one.begin));
    covered_to_ = std::max(covered_to_, one.end);
  }
  int64_t ns() const { return ns_; }

 private:
  int64_t covered_to_;
  int64_t ns_ = 0;
};

void mark_cold(StepGroup& group) {
  std::vector<double> times;
  for (const StepModel& step : group.steps) times.push_back(static_cast<double>(step.step_ns));
  const double limit = kColdFactor * median(std::move(times));
  for (StepModel& step : group.steps) step.cold = static_cast<double>(step.step_ns) > limit;
}

void set_periods(StepGroup& group) {
  for (size_t i = 0; i + 1 < group.steps.size(); ++i) {
    group.steps[i].period_ns = group.steps[i + 1].host.begin - group.steps[i].host.begin;
  }
}

void count_work(const trace::Trace& trace, StepModel& step) {
  for (const EventId id : step.owned.work) {
    step.gpu_ns += trace.dur_ns[id];
    const Category category = trace.category[id];
    step.kernels += category == Category::kKernel ? 1 : 0;
    step.memcpys += category == Category::kGpuMemcpy ? 1 : 0;
    step.memsets += category == Category::kGpuMemset ? 1 : 0;
  }
  step.launches = std::ssize(step.owned.launches);
  step.lost_launches = std::ssize(step.owned.lost);
  step.syncs = std::ssize(step.owned.syncs);
}

}  // namespace

TimeShares shares_of(const TraceIndex& index, std::span<const EventId> work,
                     const Interval& window) {
  std::vector<PartInterval> parts;
  parts.reserve(work.size());
  for (const EventId id : work) {
    const Interval when{std::max(index.trace.ts_ns[id], window.begin),
                        std::min(index.trace.end_ns(id), window.end)};
    if (when.begin < when.end) parts.push_back({when, part_of(index, id)});
  }
  const auto earlier = [](const PartInterval& a, const PartInterval& b) {
    return a.when.begin < b.when.begin;
  };
  if (!std::is_sorted(parts.begin(), parts.end(), earlier)) {
    std::sort(parts.begin(), parts.end(), earlier);
  }
  UnionLength compute(window.begin);
  UnionLength communication(window.begin);
  UnionLength copies(window.begin);
  UnionLength kernels(window.begin);
  UnionLength all(window.begin);
  for (const auto& [when, part] : parts) {
    if (part == WorkPart::kCompute) compute.add(when);
    if (part == WorkPart::kCommunication) communication.add(when);
    if (part == WorkPart::kCopies) copies.add(when);
    if (part != WorkPart::kCopies) kernels.add(when);
    all.add(when);
  }
  TimeShares shares;
  shares.window_ns = window.end - window.begin;
  shares.busy_ns = all.ns();
  shares.compute_ns = compute.ns();
  shares.communication_ns = communication.ns();
  shares.exposed_communication_ns = kernels.ns() - compute.ns();
  shares.copies_ns = copies.ns();
  shares.exposed_copies_ns = all.ns() - kernels.ns();
  return shares;
}

const std::vector<DeviceWork>& StepModels::devices() const {
  return devices_.get([&] { return device_works(index_); });
}

const DeviceWork* StepModels::shown_device() const {
  return shown_device_.get([&]() -> const DeviceWork* {
    const auto& all = devices();
    const auto busiest =
        std::max_element(all.begin(), all.end(), [](const DeviceWork& a, const DeviceWork& b) {
          return length(a.busy().intervals()) < length(b.busy().intervals());
        });
    return busiest == all.end() ? nullptr : &*busiest;
  });
}

const HostTimeline& StepModels::host() const {
  return host_.get([&] { return HostTimeline(index_); });
}

const StepGraphs& StepModels::graphs() const {
  return graphs_.get([&] { return StepGraphs(index_, host()); });
}

const std::vector<IdleGap>& StepModels::gaps(const DeviceWork& device) const {
  const auto& all = gaps_.get([&] {
    const Interval window = whole_trace().steps[0].host;
    std::vector<std::vector<IdleGap>> of_devices;
    for (const DeviceWork& one : devices()) {
      of_devices.push_back(idle_gaps(index_, host(), {one.work(), window}));
    }
    return of_devices;
  });
  return all[static_cast<size_t>(&device - devices().data())];
}

std::vector<IdleGap> StepModels::gaps(const StepModel& step) const {
  const DeviceWork* device = shown_device();
  return device == nullptr ? std::vector<IdleGap>() : clipped(gaps(*device), step.window);
}

Interval StepModels::window_of(const Instance& instance) const {
  const trace::Trace& trace = index_.trace;
  Interval window = instance.host;
  if (instance.owned.work.empty()) return window;
  int64_t last_end = INT64_MIN;
  int64_t first_start = INT64_MAX;
  for (const EventId id : instance.owned.work) {
    last_end = std::max(last_end, trace.end_ns(id));
    first_start = std::min(first_start, trace.ts_ns[id]);
  }
  if (instance.event == kNoEvent) return {window.begin, last_end};
  // The devices that still run earlier work are not available yet.
  int64_t free_ns = INT64_MAX;
  for (const DeviceWork& device : devices()) {
    const bool is_used =
        devices().size() == 1 ||
        std::any_of(instance.owned.work.begin(), instance.owned.work.end(),
                    [&](EventId id) { return device_of(trace, id) == device.device(); });
    if (is_used) free_ns = std::min(free_ns, device.end_of_work_before(window.begin));
  }
  if (free_ns == INT64_MAX) free_ns = INT64_MIN;  // on devices that are left out
  return {std::max(window.begin, std::min(free_ns, first_start)), std::max(window.end, last_end)};
}

TimeShares StepModels::shares(const StepModel& step, const DeviceWork& device) const {
  const trace::Trace& trace = index_.trace;
  std::vector<EventId> own;
  std::span<const EventId> work = step.owned.work;
  if (devices().size() > 1) {
    std::copy_if(work.begin(), work.end(), std::back_inserter(own),
                 [&](EventId id) { return device_of(trace, id) == device.device(); });
    work = own;
  }
  TimeShares shares = shares_of(index_, work, step.window);
  const int64_t running_ns = device.busy().in(step.window);
  shares.others_ns = running_ns - shares.busy_ns;
  shares.idle_ns = shares.window_ns - running_ns;
  return shares;
}

StepModel StepModels::model_of(const Instance& instance) const {
  StepModel step;
  step.event = instance.event;
  step.name = instance.name;
  step.host = instance.host;
  step.window = window_of(instance);
  step.owned = instance.owned;
  step.cpu_ns = step.host.end - step.host.begin;
  step.step_ns = step.window.end - step.window.begin;
  step.latency_ns = std::max(step.window.end, step.host.end) - step.host.begin;
  count_work(index_.trace, step);
  if (const DeviceWork* device = shown_device()) {
    const TimeShares on_device = shares(step, *device);
    step.busy_ns = on_device.busy_ns;
    step.others_ns = on_device.others_ns;
    step.idle_ns = on_device.idle_ns;
  } else {
    step.idle_ns = step.step_ns;
  }
  return step;
}

StepGroup StepModels::group_of(InstanceGroup instances) const {
  StepGroup group{std::move(instances.name), {}, instances.of_ops, std::move(instances.lists)};
  auto& all = instances.instances;
  std::stable_sort(all.begin(), all.end(), [](const Instance& a, const Instance& b) {
    return a.host.begin < b.host.begin;
  });
  for (const Instance& instance : all) group.steps.push_back(model_of(instance));
  mark_cold(group);
  set_periods(group);
  return group;
}

const StepGroup& StepModels::steps() const {
  return index_.ownership.marks().events.empty()
             ? whole_trace()
             : steps_.get([&] { return group_of(step_instances(index_)); });
}

const StepGroup& StepModels::whole_trace() const {
  return whole_trace_.get([&] { return group_of(trace_instance(index_)); });
}

const StepGroup& StepModels::judged() const {
  const bool has_work = !index_.ownership.everything().work.empty();
  const bool owned = !index_.ownership.are_launches_missing() && steps().has_work();
  return has_work && !owned ? whole_trace() : steps();
}

const std::vector<StepGroup>& StepModels::annotations() const {
  return annotations_.get([&] {
    std::vector<StepGroup> groups;
    for (InstanceGroup& group : annotation_instances(index_)) {
      groups.push_back(group_of(std::move(group)));
    }
    return groups;
  });
}

StepGroup StepModels::named(std::string_view title, const NameTest& is_named) const {
  return group_of(named_instances(index_, title, is_named));
}

StepGroup StepModels::named(std::string_view name) const {
  return named(name, [&](std::string_view other) { return other == name; });
}

}  // namespace epi::analysis
