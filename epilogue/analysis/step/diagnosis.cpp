// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/step/diagnosis.h"

#include <algorithm>
#include <unordered_map>

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
// Limits the annotations that are diagnosed. A trace may have one per module.
constexpr size_t kMaxAnnotations = 32;

double ratio(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool leads(double share, double next) {
  return share >= kVerdictShare && share >= kVerdictLead * next;
}

using LimiterTimes = std::array<int64_t, kLimiters>;

LimiterTimes by_limiter(const BoundTimes& bounds) {
  LimiterTimes times{};
  for (size_t i = 0; i < kBounds; ++i) {
    times[static_cast<size_t>(limiter_of(static_cast<Bound>(i)))] += bounds[i];
  }
  return times;
}

template <typename Times>
size_t largest_place(const Times& times) {
  return static_cast<size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

// The largest and the second largest share.
template <typename Times>
std::pair<double, double> top_shares(Times times, int64_t whole) {
  std::sort(times.rbegin(), times.rend());
  return {ratio(times[0], whole), ratio(times[1], whole)};
}

// A single bound that leads all others decides. Otherwise, bounds with the same remedy count
// together.
Limiter limiter_on_path(const Evidence& evidence) {
  if (evidence.path_ns <= 0) return Limiter::kNotConclusive;
  const LimiterTimes limiters = by_limiter(evidence.bounds);
  const auto [bound, next_bound] = top_shares(evidence.bounds, evidence.path_ns);
  const auto [largest, next] = top_shares(limiters, evidence.path_ns);
  Limiter limiter = Limiter::kMixed;
  if (leads(bound, next_bound)) {
    limiter = limiter_of(static_cast<Bound>(largest_place(evidence.bounds)));
  } else if (leads(largest, next)) {
    limiter = static_cast<Limiter>(largest_place(limiters));
  }
  const int64_t not_in_file = limiters[static_cast<size_t>(Limiter::kNotInTrace)];
  const bool outside =
      limiter == Limiter::kNotInTrace ||
      (limiter == Limiter::kMixed && ratio(not_in_file, evidence.path_ns) >= kVerdictShare);
  return outside ? Limiter::kNotConclusive : limiter;
}

int64_t unexplained_ns(const std::vector<IdleGap>& gaps) {
  int64_t sum = 0;
  for (const IdleGap& gap : gaps) {
    const bool counts = gap.cause == IdleCause::kNotInTrace || gap.cause == IdleCause::kNoLaunch;
    if (counts) sum += gap.ns();
  }
  return sum;
}

std::vector<EventId> capture_starts(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  std::vector<bool> starts_capture(trace.names.size());
  for (trace::NameId name = 0; name < starts_capture.size(); ++name) {
    starts_capture[name] = trace.names[name].find("StreamBeginCapture") != std::string_view::npos;
  }
  std::vector<EventId> found;
  if (std::find(starts_capture.begin(), starts_capture.end(), true) == starts_capture.end())
    return found;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (starts_capture[trace.name[id]] && trace.is_span(id)) found.push_back(id);
  }
  return found;
}

// The thread of the whole trace: the one with the most launches or, if nothing was launched, with
// the most events.
trace::LaneId main_thread(const TraceIndex& index) {
  std::vector<int64_t> launches(index.trace.lanes.size());
  for (const EventId id : index.ownership.everything().launches) ++launches[index.trace.lane[id]];
  if (std::all_of(launches.begin(), launches.end(), [](int64_t count) { return count == 0; })) {
    for (trace::LaneId lane = 0; lane < launches.size(); ++lane) {
      const auto [first, last] = index.lane_ranges[lane];
      launches[lane] = static_cast<int64_t>(last - first);
    }
  }
  return static_cast<trace::LaneId>(largest_place(launches));
}

class Diagnoser {
 public:
  explicit Diagnoser(const StepModels& models)
      : models_(models), index_(models.index()), captures_(capture_starts(index_)) {}

  Diagnosis of(const StepGroup& group) const {
    Diagnosis result;
    const size_t shown = group.shown();
    result.name = group.name;
    result.instances = std::ssize(group.steps);
    result.step = group.steps[shown];
    result.lists = group.lists;
    result.launches_missing = index_.ownership.are_launches_missing();
    result.is_cut = is_cut(index_.trace);
    for (const StepModel& step : group.steps) result.lost_launches += step.lost_launches;
    if (overlaps(group, shown) && first_warm(group) <= shown) {
      judge_together(group, shown, result);
    } else {
      judge(
          group, shown, [&](const StepModel& step) { return analyze(step_window(step)); }, result);
    }
    if (!result.spans_steps && !result.step.owned.syncs.empty() && result.instances > 1) {
      add_sequence(group, shown, result);
    }
    return result;
  }

 private:
  // The graph of a window, without the part that is cut from the start.
  struct Analyzed {
    std::shared_ptr<const StepGraph> graph;
    Interval window;
    std::vector<PathPart> path;
  };

  Analyzed analyze(StepWindow window) const {
    auto graph = graph_of(window);
    std::vector<PathPart> path = graph->critical_path();
    if (const int64_t start_ns = clipped_start(path); start_ns > window.begin_ns) {
      window.begin_ns = start_ns;
      graph = graph_of(window);
      path = graph->critical_path();
    }
    return {graph, {window.begin_ns, window.end_ns}, std::move(path)};
  }

  // The path of one step, of those of all. What the host does for a step that overlaps others, it
  // does before the step's window starts.
  static Analyzed part_of(const Analyzed& all, const Interval& window) {
    Analyzed part{all.graph,
                  {std::max(window.begin, all.window.begin), std::min(window.end, all.window.end)},
                  {}};
    for (PathPart one : all.path) {
      one.begin_ns = std::max(one.begin_ns, part.window.begin);
      one.end_ns = std::min(one.end_ns, part.window.end);
      if (one.begin_ns < one.end_ns) part.path.push_back(one);
    }
    return part;
  }

  std::shared_ptr<const StepGraph> graph_of(const StepWindow& window) const {
    return std::make_shared<const StepGraph>(models_.graphs().graph(window));
  }

  StepWindow step_window(const StepModel& step) const {
    StepWindow window{step.window.begin,
                      step.window.end,
                      step.host.end,
                      0,
                      {step.owned.work.begin(), step.owned.work.end()}};
    if (step.event != kNoEvent) {
      window.thread = index_.trace.lane[step.event];
      return window;
    }
    window.thread = main_thread(index_);
    window.host_end_ns =
        std::clamp(models_.host().last_end(window.thread), window.begin_ns, window.end_ns);
    return window;
  }

  // If the first work waits for something outside the trace, recording started in the middle of a
  // step. Everything before that work is cut. Returns where it starts.
  int64_t clipped_start(const std::vector<PathPart>& path) const {
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      const PathPart& part = path[i];
      const bool is_device =
          part.event != kNoEvent && trace::is_device_work(index_.trace.category[part.event]);
      if (!is_device) continue;
      const bool is_clipped = part.bound == Bound::kNotInTrace && !ran_before(part.begin_ns);
      return is_clipped ? part.end_ns : INT64_MIN;
    }
    return INT64_MIN;
  }

  bool ran_before(int64_t ns) const {
    const Intervals& busy = models_.host().device_busy();
    return !busy.empty() && busy.front().begin < ns;
  }

  void show(const Analyzed& analyzed, Diagnosis& result) const {
    result.analyzed = analyzed.window;
    result.clipped_ns = analyzed.window.begin - result.step.window.begin;
    result.path = models_.graphs().refined(analyzed.path);
    for (const PathPart& part : result.path) {
      result.bounds[static_cast<size_t>(part.bound)] += part.end_ns - part.begin_ns;
    }
    result.gaps = models_.gaps(result.step);
    result.shares = models_.shares(result.step, *models_.shown_device());
    StepModel without_clipped = result.step;
    without_clipped.window = result.analyzed;
    result.analyzed_shares = models_.shares(without_clipped, *models_.shown_device());
    result.graph = analyzed.graph;
    result.graph_window = analyzed.window;
    result.graph_host = result.step.host;
  }

  static bool overlaps(const StepGroup& group, size_t place) {
    const auto& steps = group.steps;
    if (place + 1 >= steps.size()) {
      if (place == 0) return false;
      --place;  // the trace does not show what follows the last one
    }
    const int64_t next = steps[place + 1].host.begin;
    const int64_t over = steps[place].window.end - next;
    return next >= steps[place].host.end &&
           static_cast<double>(over) > kOverlapShare * static_cast<double>(steps[place].cpu_ns);
  }

  static size_t first_warm(const StepGroup& group) {
    size_t first = 0;
    while (first + 1 < group.steps.size() && group.steps[first].cold) ++first;
    return first;
  }

  StepWindow joined_window(const StepGroup& group, size_t first, size_t end) const {
    StepWindow window = step_window(group.steps[first]);
    for (size_t i = first + 1; i < end; ++i) {
      const StepModel& step = group.steps[i];
      window.owned.insert(window.owned.end(), step.owned.work.begin(), step.owned.work.end());
      window.host_end_ns = std::max(window.host_end_ns, step.host.end);
      window.end_ns = std::max(window.end_ns, step.window.end);
    }
    return window;
  }

  // Judges steps that overlap by their parts of one path.
  void judge_together(const StepGroup& group, size_t shown, Diagnosis& result) const {
    const size_t first = first_warm(group);
    const Analyzed all = analyze(joined_window(group, first, group.steps.size()));
    judge(
        group, shown,
        [&](const StepModel& step) {
          Analyzed part = part_of(all, step.window);
          return part.path.empty() ? analyze(step_window(step)) : part;
        },
        result);
    result.spans_steps = result.graph == all.graph;
    if (!result.spans_steps) return;
    result.graph_window = all.window;
    result.graph_host = {group.steps[first].host.begin, group.steps.back().host.end};
    StepWindow window = step_window(group.steps[first]);
    window.begin_ns = all.window.begin;
    result.first_graph = graph_of(window);
  }

  void add_sequence(const StepGroup& group, size_t place, Diagnosis& result) const {
    constexpr size_t kMax = 4;
    const size_t count = group.steps.size();
    const size_t first =
        std::min(place, std::max(first_warm(group), count - std::min(count, kMax)));
    const size_t end = std::min(count, first + kMax);
    const StepWindow window = joined_window(group, first, end);
    result.sequence_count = static_cast<int64_t>(end - first);
    result.sequence_host = {group.steps[first].host.begin, group.steps[end - 1].host.end};
    result.sequence = graph_of(window);
  }

  Evidence evidence_of(const StepModel& step, const Analyzed& analyzed) const {
    Evidence evidence;
    for (const PathPart& part : analyzed.path) {
      const int64_t ns = part.end_ns - part.begin_ns;
      evidence.bounds[static_cast<size_t>(part.bound)] += ns;
      evidence.path_ns += ns;
    }
    evidence.window_ns = analyzed.window.end - analyzed.window.begin;
    const std::vector<IdleGap> inside = clipped(models_.gaps(step), analyzed.window);
    for (const IdleGap& gap : inside) evidence.idle_ns += gap.ns();
    evidence.running_ns = evidence.window_ns - evidence.idle_ns;
    evidence.unexplained_idle_ns = unexplained_ns(inside);
    evidence.captures_graph = std::any_of(captures_.begin(), captures_.end(), [&](EventId id) {
      const int64_t ns = index_.trace.ts_ns[id];
      return ns >= step.host.begin && ns < step.window.end;
    });
    return evidence;
  }

  // `analyzed_of(step)` gives the path of a step.
  template <typename AnalyzedOf>
  void judge(const StepGroup& group, size_t shown, const AnalyzedOf& analyzed_of,
             Diagnosis& result) const {
    Evidence sum;
    for (const size_t place : group.warm()) {  // one of them is the shown step
      const StepModel& step = group.steps[place];
      const Analyzed analyzed = analyzed_of(step);
      if (place == shown) show(analyzed, result);
      const Evidence one = evidence_of(step, analyzed);
      sum.add(one);
      result.judged.push_back({place, step.name, limiter_of(one)});
    }
    result.limiter = limiter_of(sum);
    if (!result.launches_missing) return;
    const bool is_busy = ratio(sum.running_ns, sum.window_ns) >= kBusyShare;
    result.limiter = is_busy ? Limiter::kGpu : Limiter::kNotConclusive;
    for (StepVerdict& one : result.judged) one.limiter = result.limiter;
  }

  const StepModels& models_;
  const TraceIndex& index_;
  std::vector<EventId> captures_;  // calls that start a capture
};

}  // namespace

bool is_cut(const trace::Trace& trace) {
  return trace.defects.of(trace::Defect::kTruncated) +
             trace.defects.of(trace::Defect::kBrokenCompression) >
         0;
}

Limiter MissingWork::limiter() const {
  const bool uses_none = has_host_events && lost_launches == 0 && !is_cut;
  return uses_none ? Limiter::kNoDevice : Limiter::kNotConclusive;
}

MissingWork missing_work(const TraceIndex& index) {
  const auto& categories = index.trace.category;
  return {is_cut(index.trace), std::ssize(index.ownership.everything().lost),
          std::any_of(categories.begin(), categories.end(), trace::is_host)};
}

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
    case Bound::kNotInTrace:
      return Limiter::kNotInTrace;
  }
  return Limiter::kNotInTrace;
}

void Evidence::add(const Evidence& other) {
  for (size_t i = 0; i < kBounds; ++i) bounds[i] += other.bounds[i];
  path_ns += other.path_ns;
  window_ns += other.window_ns;
  running_ns += other.running_ns;
  idle_ns += other.idle_ns;
  unexplained_idle_ns += other.unexplained_idle_ns;
  captures_graph |= other.captures_graph;
}

Limiter limiter_of(const Evidence& evidence) {
  const Limiter limiter = limiter_on_path(evidence);
  if (limiter != Limiter::kHost) return limiter;
  // A device that is hardly ever idle does not wait for the host, whatever the path is.
  if (ratio(evidence.running_ns, evidence.window_ns) >= kBusyShare) return Limiter::kMixed;
  // A busy host does not explain what the device waits for elsewhere.
  if (ratio(evidence.unexplained_idle_ns, evidence.idle_ns) > kVerdictShare) {
    return Limiter::kNotConclusive;
  }
  return evidence.captures_graph ? Limiter::kCapture : limiter;
}

double Diagnosis::share(Bound bound) const {
  return ratio(bounds[static_cast<size_t>(bound)], analyzed_ns());
}

int64_t Diagnosis::ns(Limiter one) const {
  return one <= Limiter::kNotInTrace ? by_limiter(bounds)[static_cast<size_t>(one)] : 0;
}

double Diagnosis::share(Limiter one) const { return ratio(ns(one), analyzed_ns()); }

std::vector<StepVerdict> Diagnosis::differing() const {
  std::vector<StepVerdict> others;
  std::copy_if(judged.begin(), judged.end(), std::back_inserter(others),
               [&](const StepVerdict& one) { return one.limiter != limiter; });
  return others;
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
  const RetimedStep retimed = graph->retimed(change);
  int64_t before_ns = graph->window_ns();
  int64_t after_ns = retimed.window_ns;
  if (first_graph != nullptr && first_graph->window_ns() < before_ns) {
    before_ns -= first_graph->window_ns();
    after_ns -= first_graph->retimed(change).window_ns;
  }
  return {static_cast<double>(step.step_ns) * ratio(after_ns, before_ns),
          static_cast<Limiter>(largest_place(by_limiter(retimed.bounds)))};
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
        gap.ns() > kMaxDispatchNs &&
        (gap.activity == HostActivity::kBetweenOps || gap.activity == HostActivity::kDispatch);
    const bool host = gap.cause == IdleCause::kNotLaunched && !is_program &&
                      limiter_of(bound_of(gap.activity)) == Limiter::kHost;
    const bool latency =
        gap.cause == IdleCause::kLaunchLatency || gap.cause == IdleCause::kBetweenKernels;
    if (host || latency) sum += gap.ns();
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

double Diagnosis::unexplained_share() const {
  return std::max(share(Limiter::kNotInTrace),
                  ratio(unexplained_ns(clipped(gaps, analyzed)), analyzed_ns()));
}

std::vector<Limiter> Diagnosis::largest() const {
  const LimiterTimes times = by_limiter(bounds);
  std::vector<Limiter> order;
  for (size_t i = 0; i < kLimiters; ++i) {
    if (times[i] > 0) order.push_back(static_cast<Limiter>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](Limiter a, Limiter b) {
    return times[static_cast<size_t>(a)] > times[static_cast<size_t>(b)];
  });
  return order;
}

Bound Diagnosis::bound() const {
  BoundTimes own = bounds;
  for (size_t i = 0; i < kBounds; ++i) {
    const bool counts = limiter >= Limiter::kMixed || limiter_of(static_cast<Bound>(i)) == limiter;
    if (!counts) own[i] = -1;
  }
  return static_cast<Bound>(largest_place(own));
}

std::optional<Diagnosis> diagnose(const StepModels& models, const StepGroup& group) {
  if (!group.has_work()) return std::nullopt;
  return Diagnoser(models).of(group);
}

std::vector<Diagnosis> diagnoses(const StepModels& models) {
  const StepGroup& steps = models.judged();
  if (!steps.has_work()) return {};
  const Diagnoser diagnoser(models);
  std::vector<Diagnosis> result = {diagnoser.of(steps)};
  for (const StepGroup& group : models.annotations()) {
    if (result.size() > kMaxAnnotations) break;
    if (group.has_work()) result.push_back(diagnoser.of(group));
  }
  return result;
}

}  // namespace epi::analysis
