// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/diagnosis.h"

#include <algorithm>
#include <unordered_set>

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// A verdict needs this share of the path, and this many times the share of the runner-up.
constexpr double kVerdictShare = 0.4;
constexpr double kVerdictLead = 1.5;
// Steps overlap if the work of one runs past the start of the next by more than this share of the
// step.
constexpr double kOverlapShare = 0.05;
// If launches are missing from the trace, a device that is busy for this share is the limit.
constexpr double kBusyShare = 0.9;
// Longer uninterrupted host work is not dispatch.
constexpr int64_t kMaxDispatchNs = 1000000;
// Largest gap between kernels of one queue.
constexpr int64_t kQueueGapNs = 100000;
// Limits the annotations that are diagnosed. A trace may have one per module.
constexpr size_t kMaxAnnotations = 32;

bool has_work(const Subject& subject) {
  return std::any_of(subject.owned.begin(), subject.owned.end(),
                     [](const Owned& owned) { return !owned.work.empty(); });
}

bool leads(double share, double next) {
  return share >= kVerdictShare && share >= kVerdictLead * next;
}

// A single bound that leads all others decides. Otherwise, bounds with the same remedy count
// together.
Limiter verdict(const Diagnosis& diagnosis) {
  std::vector<Limiter> largest = diagnosis.largest();
  if (largest.empty()) return Limiter::kNotConclusive;
  BoundTimes sorted = diagnosis.bounds;
  std::sort(sorted.rbegin(), sorted.rend());
  const auto window = static_cast<double>(diagnosis.window_ns());
  const double next = largest.size() > 1 ? diagnosis.share(largest[1]) : 0;
  Limiter limiter = Limiter::kMixed;
  if (leads(static_cast<double>(sorted[0]) / window, static_cast<double>(sorted[1]) / window)) {
    const auto place = std::max_element(diagnosis.bounds.begin(), diagnosis.bounds.end());
    limiter = limiter_of(static_cast<Bound>(place - diagnosis.bounds.begin()));
  } else if (leads(diagnosis.share(largest[0]), next)) {
    limiter = largest[0];
  }
  const bool outside =
      limiter == Limiter::kNotInFile ||
      (limiter == Limiter::kMixed && diagnosis.share(Limiter::kNotInFile) >= kVerdictShare);
  return outside ? Limiter::kNotConclusive : limiter;
}

std::vector<EventId> capture_starts(const TraceIndex& index) {
  std::vector<bool> starts_capture(index.trace.names.size());
  for (size_t name = 0; name < starts_capture.size(); ++name) {
    starts_capture[name] =
        index.trace.names[name].find("StreamBeginCapture") != std::string_view::npos;
  }
  std::vector<EventId> found;
  if (std::find(starts_capture.begin(), starts_capture.end(), true) == starts_capture.end())
    return found;
  for (EventId id = 0; id < index.trace.size(); ++id) {
    if (starts_capture[index.trace.name[id]] && index.trace.is_span(id)) found.push_back(id);
  }
  return found;
}

class Diagnoser {
 public:
  explicit Diagnoser(const TraceIndex& index)
      : index_(index), graphs_(index), captures_(capture_starts(index)) {}

  Diagnosis of(const Subject& subject) const {
    const size_t place = typical_instance(subject.group);
    const Instance& instance = subject.group.instances[place];
    Diagnosis result;
    result.name = subject.group.name;
    result.shown = instance.name;
    result.whole_trace = instance.event == kNoEvent;
    result.instances = static_cast<int64_t>(subject.group.instances.size());
    StepWindow window = graphs_.window(instance, subject.owned[place]);
    if (overlap(subject, place)) {
      const size_t first = first_warm(subject);
      result.judged = static_cast<int64_t>(subject.group.instances.size() - first);
      window = window_of(subject, first, subject.group.instances.size());
      result.clipped_ns = queued_before_ns(window);
      window.begin_ns += result.clipped_ns;
    } else if (!subject.owned[place].syncs.empty() && result.instances > 1) {
      add_row(subject, place, result);
    }
    result.graph = std::make_shared<const StepGraph>(graphs_.graph(window));
    result.path = graphs_.critical_path(*result.graph);
    result.window = {window.begin_ns, window.end_ns};
    if (clip_start(result)) {
      window.begin_ns = result.window.begin;
      result.graph = std::make_shared<const StepGraph>(graphs_.graph(window));
      result.path = graphs_.critical_path(*result.graph);
    }
    for (const PathPart& part : result.path) {
      result.bounds[static_cast<size_t>(part.bound)] += part.end_ns - part.begin_ns;
    }
    add_idle(result);
    result.limiter = verdict(result);
    const auto busy_ns = static_cast<double>(result.busy_ns);
    // A device that is hardly ever idle does not wait for the host, whatever the path is.
    const bool is_busy = busy_ns >= kBusyShare * static_cast<double>(result.window_ns());
    if (result.limiter == Limiter::kHost && is_busy) result.limiter = Limiter::kMixed;
    // A busy host does not explain what the device waits for elsewhere.
    const auto idle_ns = static_cast<double>(result.window_ns()) - busy_ns;
    const bool unexplained =
        static_cast<double>(result.unexplained_idle_ns()) > kVerdictShare * idle_ns;
    if (result.limiter == Limiter::kHost && unexplained) result.limiter = Limiter::kNotConclusive;
    if (result.limiter == Limiter::kHost && captures_graph(result.window)) {
      result.limiter = Limiter::kCapture;
    }
    if (result.launches_missing) {
      result.limiter = is_busy ? Limiter::kGpu : Limiter::kNotConclusive;
    }
    return result;
  }

 private:
  bool overlap(const Subject& subject, size_t place) const {
    const auto& instances = subject.group.instances;
    if (place + 1 >= instances.size()) {
      if (place == 0) return false;
      --place;  // the trace does not show what follows the last one
    }
    const Instance& step = instances[place];
    const int64_t next = instances[place + 1].begin_ns;
    const int64_t over = step.begin_ns + step.measures.window_ns - next;
    return next >= step.end_ns &&
           static_cast<double>(over) > kOverlapShare * static_cast<double>(step.measures.cpu_ns);
  }

  static size_t first_warm(const Subject& subject) {
    const auto& instances = subject.group.instances;
    size_t first = 0;
    while (first + 1 < instances.size() && instances[first].cold) ++first;
    return first;
  }

  // The window ends with the last work of these instances.
  StepWindow window_of(const Subject& subject, size_t first, size_t end) const {
    const auto& instances = subject.group.instances;
    StepWindow window = graphs_.window(instances[first], subject.owned[first]);
    window.owned.clear();
    for (size_t i = first; i < end; ++i) {
      window.owned.insert(window.owned.end(), subject.owned[i].work.begin(),
                          subject.owned[i].work.end());
      window.host_end_ns = std::max(window.host_end_ns, instances[i].end_ns);
      window.end_ns =
          std::max(window.end_ns, instances[i].begin_ns + instances[i].measures.window_ns);
    }
    return window;
  }

  // How long the device is busy with work launched before the window. If steps overlap, a step
  // lasts from the end of one step's work to the end of the next one's.
  int64_t queued_before_ns(const StepWindow& window) const {
    const std::unordered_set<EventId> owned(window.owned.begin(), window.owned.end());
    int64_t end_ns = window.begin_ns;
    for (const EventId id : graphs_.work_in({window.begin_ns, window.end_ns})) {
      if (owned.contains(id) || index_.trace.ts_ns[id] > end_ns + kQueueGapNs) break;
      end_ns = std::max(end_ns, index_.trace.end_ns(id));
    }
    return std::min(end_ns, window.end_ns) - window.begin_ns;
  }

  void add_row(const Subject& subject, size_t place, Diagnosis& result) const {
    constexpr size_t kMax = 4;
    const size_t count = subject.group.instances.size();
    const size_t first =
        std::min(place, std::max(first_warm(subject), count - std::min(count, kMax)));
    const size_t end = std::min(count, first + kMax);
    const StepWindow window = window_of(subject, first, end);
    result.sequence_count = static_cast<int64_t>(end - first);
    result.sequence_window = {window.begin_ns, window.end_ns};
    result.sequence = std::make_shared<const StepGraph>(graphs_.graph(window));
  }

  // If the first work waits for something outside the trace, recording started in the middle of a
  // step. Everything before that work is cut. Returns whether anything was cut.
  bool clip_start(Diagnosis& result) const {
    for (size_t i = 0; i < result.path.size(); ++i) {
      const PathPart& part = result.path[i];
      const bool is_device =
          part.event != kNoEvent && trace::is_device_work(index_.trace.category[part.event]);
      if (!is_device) continue;
      if (part.bound != Bound::kNotInFile || ran_before(part.begin_ns)) return false;
      if (i + 1 == result.path.size()) return false;
      result.clipped_ns += part.end_ns - result.window.begin;
      result.window.begin = part.end_ns;
      return true;
    }
    return false;
  }

  bool ran_before(int64_t ns) const {
    const Intervals& busy = graphs_.host().device_busy();
    return !busy.empty() && busy.front().begin < ns;
  }

  void add_idle(Diagnosis& result) const {
    std::vector<EventId> work;
    double all_ns = 0;
    double unlaunched_ns = 0;
    for (const EventId id : graphs_.work_in(result.window)) {
      work.push_back(id);
      const auto ns = static_cast<double>(index_.trace.dur_ns[id]);
      all_ns += ns;
      const bool attributed =
          index_.links.launch[id] != kNoEvent || index_.links.op[id] != kNoEvent;
      if (!attributed) unlaunched_ns += ns;
    }
    result.launches_missing = unlaunched_ns > all_ns / 2;
    result.gaps = idle_gaps(index_, graphs_.host(), {work, result.window});
    int64_t idle_ns = 0;
    for (const IdleGap& gap : result.gaps) idle_ns += gap.when.end - gap.when.begin;
    result.busy_ns = result.window_ns() - idle_ns;
  }

  bool captures_graph(const Interval& window) const {
    return std::any_of(captures_.begin(), captures_.end(), [&](EventId id) {
      return index_.trace.ts_ns[id] >= window.begin && index_.trace.ts_ns[id] < window.end;
    });
  }

  const TraceIndex& index_;
  StepGraphs graphs_;
  std::vector<EventId> captures_;  // calls that start a capture
};

}  // namespace

Limiter limiter_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
    case Bound::kMemory:
    case Bound::kUnclassified:
      return Limiter::kGpu;
    case Bound::kCopies:
      return Limiter::kCopies;
    case Bound::kCommunication:
      return Limiter::kCommunication;
    case Bound::kDispatch:
    case Bound::kLaunches:
      return Limiter::kHost;
    case Bound::kSynchronizing:
      return Limiter::kSynchronizing;
    case Bound::kInput:
      return Limiter::kInput;
    case Bound::kAllocating:
      return Limiter::kAllocating;
    case Bound::kInitializing:
      return Limiter::kInitializing;
    case Bound::kCompiling:
      return Limiter::kCompiling;
    case Bound::kNotInFile:
      return Limiter::kNotInFile;
  }
  return Limiter::kNotInFile;
}

double Diagnosis::share(Bound bound) const {
  const auto all = static_cast<double>(window_ns());
  return all <= 0 ? 0 : static_cast<double>(bounds[static_cast<size_t>(bound)]) / all;
}

int64_t Diagnosis::ns(Limiter one) const {
  int64_t sum = 0;
  for (size_t i = 0; i < kBounds; ++i) {
    if (limiter_of(static_cast<Bound>(i)) == one) sum += bounds[i];
  }
  return sum;
}

double Diagnosis::share(Limiter one) const {
  const auto all = static_cast<double>(window_ns());
  return all <= 0 ? 0 : static_cast<double>(ns(one)) / all;
}

bool Diagnosis::is_compute_measured() const {
  int64_t all_ns = 0;
  int64_t measured_ns = 0;
  for (const PathPart& part : path) {
    if (part.bound != Bound::kCompute) continue;
    all_ns += part.end_ns - part.begin_ns;
    if (part.is_measured) measured_ns += part.end_ns - part.begin_ns;
  }
  return 2 * measured_ns > all_ns;
}

Diagnosis::After Diagnosis::after(const StepChange& change) const {
  const RetimedStep retimed_step = graph->retimed(change);
  std::array<int64_t, kLimiters> times{};
  for (size_t i = 0; i < kBounds; ++i) {
    times[static_cast<size_t>(limiter_of(static_cast<Bound>(i)))] += retimed_step.bounds[i];
  }
  const auto largest = std::max_element(times.begin(), times.end());
  return {static_cast<double>(retimed_step.window_ns) / static_cast<double>(judged),
          static_cast<Limiter>(largest - times.begin())};
}

double Diagnosis::ns_in_sequence(const StepChange& change) const {
  if (sequence == nullptr) return after(change).ns;
  return static_cast<double>(sequence->retimed(change).window_ns) /
         static_cast<double>(sequence_count);
}

int64_t Diagnosis::host_idle_ns() const {
  int64_t sum = 0;
  for (const IdleGap& gap : gaps) {
    const bool is_program =
        gap.when.end - gap.when.begin > kMaxDispatchNs &&
        (gap.activity == HostActivity::kBetweenOps || gap.activity == HostActivity::kDispatch);
    const bool host = gap.cause == IdleCause::kNotLaunched && !is_program &&
                      limiter_of(bound_of(gap.activity)) == Limiter::kHost;
    const bool latency =
        gap.cause == IdleCause::kLaunchLatency || gap.cause == IdleCause::kBetweenKernels;
    if (host || latency) sum += gap.when.end - gap.when.begin;
  }
  return sum;
}

int64_t Diagnosis::program_host_ns() const {
  int64_t sum = 0;
  for (const PathPart& part : path) {
    const int64_t ns = part.end_ns - part.begin_ns;
    if (part.bound == Bound::kDispatch && ns > kMaxDispatchNs) sum += ns;
  }
  return sum;
}

int64_t Diagnosis::unexplained_idle_ns() const {
  int64_t sum = 0;
  for (const IdleGap& gap : gaps) {
    const bool counts = gap.cause == IdleCause::kNotInFile || gap.cause == IdleCause::kNoLaunch;
    if (counts) sum += gap.when.end - gap.when.begin;
  }
  return sum;
}

double Diagnosis::unexplained_share() const {
  const auto idle_ns = static_cast<double>(unexplained_idle_ns());
  const auto all = static_cast<double>(window_ns());
  return std::max(share(Limiter::kNotInFile), all <= 0 ? 0 : idle_ns / all);
}

std::vector<Limiter> Diagnosis::largest() const {
  std::vector<Limiter> order;
  for (size_t i = 0; i < kLimiters; ++i) {
    if (ns(static_cast<Limiter>(i)) > 0) order.push_back(static_cast<Limiter>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](Limiter a, Limiter b) { return ns(a) > ns(b); });
  return order;
}

Bound Diagnosis::bound() const {
  size_t best = 0;
  bool found = false;
  for (size_t i = 0; i < kBounds; ++i) {
    const bool counts = limiter >= Limiter::kMixed || limiter_of(static_cast<Bound>(i)) == limiter;
    if (!counts || (found && bounds[i] <= bounds[best])) continue;
    best = i;
    found = true;
  }
  return static_cast<Bound>(best);
}

std::optional<Diagnosis> diagnose(const TraceIndex& index, const Subject& subject) {
  if (!has_work(subject)) return std::nullopt;
  return Diagnoser(index).of(subject);
}

std::vector<Diagnosis> diagnoses(const TraceIndex& index) {
  const Subject steps = step_subject(index);
  if (!has_work(steps)) return {};
  const Diagnoser diagnoser(index);
  std::vector<Diagnosis> result = {diagnoser.of(steps)};
  for (const Subject& subject : annotation_subjects(index)) {
    if (has_work(subject) && result.size() <= kMaxAnnotations) {
      result.push_back(diagnoser.of(subject));
    }
  }
  return result;
}

}  // namespace epi::analysis
