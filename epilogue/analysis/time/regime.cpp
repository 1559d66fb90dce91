// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/regime.h"

#include <algorithm>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/time/idle.h"
#include "epilogue/analysis/time/summary.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

// Annotations beyond are not looked at: traces may have one for each module.
constexpr size_t kMaxAnnotations = 32;

// Where shapes do not tell.
bool is_usually_arithmetic(Kind kind) {
  return kind == Kind::kGemm || kind == Kind::kConv || kind == Kind::kAttention;
}

Bound bound_of(const TraceIndex& index, EventId work, const std::optional<GpuPeaks>& peaks) {
  if (index.trace.category[work] != Category::kKernel) return Bound::kMemory;
  const Kind kind = index.names[index.trace.name[work]].kind;
  if (kind == Kind::kComm) return Bound::kCommunication;
  if (kind == Kind::kPointwise || kind == Kind::kCopy) return Bound::kMemory;
  const auto known = kernel_rate(index, work, peaks).is_arithmetic();
  return known.value_or(is_usually_arithmetic(kind)) ? Bound::kArithmetic : Bound::kMemory;
}

class Uses {
 public:
  explicit Uses(const TraceIndex& index)
      : index_(index), host_(index), peaks_(gpu_peaks(device_name(index.trace))) {
    for (const EventId id : index.ownership.everything().work) {
      busy_.push_back({index.trace.ts_ns[id], index.trace.end_ns(id)});
    }
    busy_ = united(std::move(busy_));
  }

  TimeUse of(const Subject& subject) const {
    const size_t place = typical_instance(subject.group);
    const Instance& instance = subject.group.instances[place];
    std::vector<EventId> work = subject.owned[place].work;
    std::stable_sort(work.begin(), work.end(), [&](EventId a, EventId b) {
      return index_.trace.ts_ns[a] < index_.trace.ts_ns[b];
    });
    TimeUse use;
    use.name = subject.group.name;
    use.instances = static_cast<int64_t>(subject.group.instances.size());
    const int64_t begin = instance.begin_ns;
    const Interval window{begin, begin + instance.measures.window_ns};
    add_work(work, instance.measures.busy_ns, use);
    const IdleCauses idle =
        idle_causes(index_, host_, {work, window}, {OtherWork::Of::kSteps, &busy_});
    add_idle(idle, use);
    use.window_ns = static_cast<double>(instance.measures.window_ns - idle.other_steps_ns);
    return use;
  }

 private:
  double& ns(TimeUse& use, Bound bound) const { return use.ns[static_cast<size_t>(bound)]; }

  // Kernels side by side share the time that passes.
  void add_work(const std::vector<EventId>& work, int64_t busy_ns, TimeUse& use) const {
    double sum = 0;
    for (const EventId id : work) {
      const auto took = static_cast<double>(index_.trace.dur_ns[id]);
      ns(use, bound_of(index_, id, peaks_)) += took;
      sum += took;
    }
    if (sum <= 0) return;
    for (double& one : use.ns) one *= static_cast<double>(busy_ns) / sum;
  }

  void add_idle(const IdleCauses& idle, TimeUse& use) const {
    for (size_t i = 0; i < kHostActivities; ++i) {
      const auto activity = static_cast<HostActivity>(i);
      const Bound bound = activity == HostActivity::kCall            ? Bound::kLaunches
                          : activity == HostActivity::kSynchronizing ? Bound::kSynchronizing
                                                                     : Bound::kDispatch;
      ns(use, bound) += static_cast<double>(idle.host[i]);
    }
    ns(use, Bound::kLaunches) += static_cast<double>(idle.on_its_way_ns + idle.between_ns);
  }

  const TraceIndex& index_;
  HostTimeline host_;
  std::optional<GpuPeaks> peaks_;
  Intervals busy_;
};

bool has_work(const Subject& subject) {
  return std::any_of(subject.owned.begin(), subject.owned.end(),
                     [](const Owned& owned) { return !owned.work.empty(); });
}

}  // namespace

Bound TimeUse::bound() const {
  return static_cast<Bound>(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

double TimeUse::share(Bound bound) const {
  return window_ns <= 0 ? 0 : ns[static_cast<size_t>(bound)] / window_ns;
}

std::optional<TimeUse> time_use(const TraceIndex& index, const Subject& subject) {
  if (!has_work(subject)) return std::nullopt;
  return Uses(index).of(subject);
}

std::vector<TimeUse> time_uses(const TraceIndex& index) {
  const Subject steps = step_subject(index);
  if (!has_work(steps)) return {};
  const Uses uses(index);
  std::vector<TimeUse> result = {uses.of(steps)};
  for (const Subject& subject : annotation_subjects(index)) {
    if (has_work(subject) && result.size() <= kMaxAnnotations) result.push_back(uses.of(subject));
  }
  return result;
}

}  // namespace epi::analysis
