// SPDX-License-Identifier: Apache-2.0
// Diagnoses a group of steps: their graphs, the verdict on each and on all, the slow ones.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/analysis/step/verdict_rules.h"
#include "epilogue/analysis/time/python_frames.h"
#include "epilogue/base/lazy.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// A slow step takes this many times the time of the shown step.
constexpr double kSlowFactor = 1.2;
// Limits the slow steps that are listed.
constexpr size_t kMaxSlowSteps = 16;
// Steps overlap if the work of one runs past the start of the next by more than this share of the
// step.
constexpr double kOverlapShare = 0.05;
// Less work before the first work of a step is the rest of a step that was not recorded.
constexpr double kEarlierShare = 0.01;
// Limits the annotations that are diagnosed. A trace may have one per module.
constexpr size_t kMaxAnnotations = 32;

// The times in which a thread captures a CUDA graph.
Intervals captures(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  const auto has = [](std::string_view name, std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  enum class Mark : uint8_t { kNone, kBegin, kEnd };
  std::vector<Mark> marks;
  for (trace::NameId id = 0; id < trace.names.size(); ++id) {
    const std::string_view name = trace.names[id];
    marks.push_back(has(name, "StreamBeginCapture") ? Mark::kBegin
                    : has(name, "StreamEndCapture") ? Mark::kEnd
                                                    : Mark::kNone);
  }
  const auto is_mark = [](Mark mark) { return mark != Mark::kNone; };
  if (std::none_of(marks.begin(), marks.end(), is_mark)) return {};
  std::unordered_map<trace::LaneId, int64_t> begins;
  Intervals found;
  for (const EventId id : index.links.tree.order) {  // by thread, then by start
    const Mark mark = marks[trace.name[id]];
    const trace::LaneId lane = trace.lane[id];
    if (mark == Mark::kBegin) begins.try_emplace(lane, trace.ts_ns[id]);
    if (mark != Mark::kEnd || !begins.contains(lane)) continue;
    found.push_back({begins[lane], trace.end_ns(id)});
    begins.erase(lane);
  }
  return merged(std::move(found));
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
      : models_(models),
        index_(models.index()),
        captures_(captures(index_)),
        marks_(index_.ownership.marks().events.begin(), index_.ownership.marks().events.end()) {}

  Diagnosis of(const StepGroup& group) const {
    Diagnosis result;
    const size_t shown = group.shown();
    result.name = group.name;
    result.instances = std::ssize(group.steps);
    result.step = group.steps[shown];
    result.shown_place = shown;
    result.lists = group.lists;
    result.launches_missing = index_.ownership.are_launches_missing();
    result.is_cut = is_cut(index_.trace);
    for (const StepModel& step : group.steps) result.lost_launches += step.lost_launches;
    if (overlaps(group, shown) && first_warm(group) <= shown) {
      judge_together(group, shown, result);
    } else {
      judge(group, shown, [&](size_t place) { return analyze_alone(group.steps[place]); }, result);
    }
    if (!result.spans_steps && !result.step.owned.syncs.empty() && result.instances > 1) {
      add_sequence(group, shown, result);
    }
    if (result.whole_trace() && result.limiter == Limiter::kInitializing) judge_rest(result);
    find_slow_steps(group, shown, result);
    return result;
  }

 private:
  // The graph of a window, without the part that is cut from the start.
  struct Analyzed {
    std::shared_ptr<const StepGraph> graph;
    Interval window;
    std::vector<PathPart> path;
    size_t part = 0;      // the place of the step in the graph
    StepWithout retimed;  // of the step
  };
  // Steps without two limiters. Steps of one graph are timed together.
  class PairTimes {
   public:
    double without_ns(const Analyzed& step, Limiter a, Limiter b) {
      if (step.graph != graph_) times_.clear();
      graph_ = step.graph;
      std::vector<double>& times = times_[{a, b}];
      if (times.empty()) times = graph_->without_ns(a, b);
      return times[step.part];
    }

   private:
    std::shared_ptr<const StepGraph> graph_;
    std::map<std::pair<Limiter, Limiter>, std::vector<double>> times_;
  };

  Analyzed analyze(StepWindow window) const {
    auto graph = graph_of(window);
    std::vector<PathPart> path = graph->critical_path();
    if (const int64_t start_ns = clipped_start(path); start_ns > window.begin_ns) {
      window.begin_ns = start_ns;
      graph = graph_of(window);
      path = graph->critical_path();
    }
    return {graph, {window.begin_ns, window.end_ns}, std::move(path), 0, {}};
  }

  Analyzed analyze_alone(const StepModel& step) const {
    Analyzed analyzed = analyze(step_window(step));
    analyzed.retimed = analyzed.graph->without_each()[0];
    return analyzed;
  }

  // The path of one step, of those of all. What the host does for a step that overlaps others, it
  // does before the step's window starts.
  static Analyzed part_of(const Analyzed& all, const Interval& window) {
    Analyzed part{all.graph,
                  {std::max(window.begin, all.window.begin), std::min(window.end, all.window.end)},
                  {},
                  0,
                  {}};
    auto at = std::partition_point(all.path.begin(), all.path.end(), [&](const PathPart& one) {
      return one.end_ns <= part.window.begin;
    });
    for (; at != all.path.end() && at->begin_ns < part.window.end; ++at) {
      part.path.push_back(*at);
      part.path.back().begin_ns = std::max(at->begin_ns, part.window.begin);
      part.path.back().end_ns = std::min(at->end_ns, part.window.end);
    }
    return part;
  }

  std::shared_ptr<const StepGraph> graph_of(const StepWindow& window) const {
    return std::make_shared<const StepGraph>(models_.graphs().graph(window));
  }

  StepWindow step_window(const StepModel& step) const {
    StepWindow window{
        step.window.begin,
        step.window.end,
        thread_of(step),
        {{step.host.end, {step.owned.work.begin(), step.owned.work.end()}, closing_sync(step)}}};
    if (step.event != kNoEvent) return window;
    window.steps[0].host_end_ns =
        std::clamp(models_.host().last_end(window.thread), window.begin_ns, window.end_ns);
    return window;
  }

  trace::LaneId thread_of(const StepModel& step) const {
    if (step.event != kNoEvent) return index_.trace.lane[step.event];
    return main_thread_.get([&] { return main_thread(index_); });
  }

  // The step's last call that waits, if nothing is launched after it.
  EventId closing_sync(const StepModel& step) const {
    const std::span<const EventId> syncs = step.owned.syncs;
    const std::span<const EventId> launches = step.owned.launches;
    if (syncs.empty()) return kNoEvent;
    const trace::Trace& trace = index_.trace;
    const bool is_last =
        launches.empty() || trace.ts_ns[launches.back()] <= trace.ts_ns[syncs.back()];
    return is_last ? syncs.back() : kNoEvent;
  }

  // If the step first waits for something outside the trace, before any of its work, recording
  // started in the middle of a step. Everything before the end of that wait is cut. Returns the
  // end.
  int64_t clipped_start(const std::vector<PathPart>& path) const {
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      const PathPart& part = path[i];
      const bool is_wait = part.bound == Bound::kNotInTrace && part.event != kNoEvent;
      if (is_wait) return ran_before(part.begin_ns) ? INT64_MIN : part.end_ns;
      const bool is_device =
          part.event != kNoEvent && trace::is_device_work(index_.trace.category[part.event]);
      if (is_device && part.bound != Bound::kLaunches) return INT64_MIN;
    }
    return INT64_MIN;
  }

  // Whether the device ran work before, other than the rest of a step that was not recorded.
  bool ran_before(int64_t ns) const {
    const Intervals& busy = models_.host().device_busy();
    if (busy.empty()) return false;
    const int64_t before_ns = length(clipped(busy, INT64_MIN, ns));
    return ratio(before_ns, busy.back().end - ns) >= kEarlierShare;
  }

  void show(const Analyzed& analyzed, Diagnosis& result) const {
    result.analyzed = analyzed.window;
    result.unrecorded_ns = unrecorded_ns(result.step, analyzed.path);
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
      window.steps.push_back(step_window(step).steps[0]);
      window.end_ns = std::max(window.end_ns, step.window.end);
    }
    return window;
  }

  // Judges steps that overlap by their parts of one path.
  void judge_together(const StepGroup& group, size_t shown, Diagnosis& result) const {
    const size_t first = first_warm(group);
    Analyzed all = analyze(joined_window(group, first, group.steps.size()));
    const std::vector<StepWithout> of_steps = all.graph->without_each();
    judge(
        group, shown,
        [&](size_t place) {
          Analyzed part = part_of(all, group.steps[place].window);
          if (part.path.empty() || place < first) return analyze_alone(group.steps[place]);
          part.part = place - first;
          part.retimed = of_steps[part.part];
          return part;
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
    evidence.unrecorded_ns = unrecorded_ns(step, analyzed.path);
    evidence.retimed = analyzed.retimed;
    evidence.window_ns = analyzed.window.end - analyzed.window.begin;
    StepModel part = step;
    part.window = analyzed.window;
    evidence.compute_ns = models_.shares(part, *models_.shown_device()).compute_ns;
    for (const IdleGap& gap : clipped(models_.gaps(step), analyzed.window)) {
      evidence.idle[static_cast<size_t>(limiter_of(gap))] += gap.ns();
    }
    evidence.capture_ns = length(clipped(captures_, step.host.begin, step.window.end));
    return evidence;
  }

  // Host work on a path that no event explains. The mark of the step explains nothing.
  int64_t unrecorded_ns(const StepModel& step, const std::vector<PathPart>& path) const {
    int64_t sum = 0;
    for (const PathPart& part : path) {
      const bool has_event = part.event != kNoEvent && !marks_.contains(part.event);
      if (part.bound != Bound::kHostWork || has_event) continue;
      const int64_t middle = part.begin_ns + (part.end_ns - part.begin_ns) / 2;
      const auto& frames = frames_.get([&] { return PythonFrames(index_.trace); });
      if (frames.at(thread_of(step), middle).function == kNoEvent)
        sum += part.end_ns - part.begin_ns;
    }
    return sum;
  }

  // The limit of more than half of the steps.
  static std::optional<Limiter> majority(const std::vector<StepVerdict>& judged) {
    for (const StepVerdict& one : judged) {
      const auto same = std::count_if(judged.begin(), judged.end(), [&](const StepVerdict& other) {
        return other.limiter == one.limiter;
      });
      if (2 * static_cast<size_t>(same) > judged.size()) return one.limiter;
    }
    return std::nullopt;
  }

  // `analyzed_of(place)` gives the path of a step.
  template <typename AnalyzedOf>
  void judge(const StepGroup& group, size_t shown, const AnalyzedOf& analyzed_of,
             Diagnosis& result) const {
    PairTimes pairs;
    std::vector<Evidence> evidence;
    for (const size_t place : group.warm()) {  // one of them is the shown step
      const StepModel& step = group.steps[place];
      const Analyzed analyzed = analyzed_of(place);
      if (place == shown) show(analyzed, result);
      evidence.push_back(evidence_of(step, analyzed));
      const Limiter limiter = limiter_of(
          evidence.back(), [&](Limiter a, Limiter b) { return pairs.without_ns(analyzed, a, b); });
      result.judged.push_back({place, step.name, limiter});
    }
    const auto judge_those = [&](auto&& counts) {
      Evidence sum;
      for (size_t i = 0; i < evidence.size(); ++i) {
        if (counts(result.judged[i])) sum.add(evidence[i]);
      }
      result.retimed = sum.retimed;
      result.limiter = limiter_of(sum, [&](Limiter a, Limiter b) {
        double ns = 0;
        for (const StepVerdict& one : result.judged) {
          if (counts(one)) ns += pairs.without_ns(analyzed_of(one.place), a, b);
        }
        return ns;
      });
      return sum;
    };
    Evidence sum = judge_those([](const StepVerdict&) { return true; });
    // One long step does not outvote most of the others.
    const std::optional<Limiter> most = majority(result.judged);
    if (most && *most != result.limiter) {
      sum = judge_those([&](const StepVerdict& one) { return one.limiter == *most; });
      result.limiter = *most;
    }
    if (!result.launches_missing) {
      if (group.steps.size() == 1) judge_host(sum, result);
      return;
    }
    const bool is_busy = ratio(sum.compute_ns, sum.window_ns) >= kBusyShare;
    result.limiter = is_busy ? Limiter::kGpu : Limiter::kNotConclusive;
    for (StepVerdict& one : result.judged) one.limiter = result.limiter;
  }

  // The trace does not show when the step after a single one would start: when the own work of the
  // step is done, or when its thread has nothing more to do.
  void judge_host(Evidence evidence, Diagnosis& result) const {
    const StepModel& step = result.step;
    const auto is_long = [&](int64_t ns) { return ratio(ns, step.step_ns) > kOverlapShare; };
    if (step.event == kNoEvent || !is_long(step.window.end - step.host.end)) return;
    StepWindow window = step_window(step);
    const int64_t host_end_ns = models_.host().last_end(window.thread);
    if (!is_long(host_end_ns - step.host.end)) return;
    window.begin_ns = result.analyzed.begin;
    window.end_ns = std::max(window.end_ns, host_end_ns);
    window.steps[0].host_end_ns = host_end_ns;
    const auto graph = graph_of(window);
    evidence.retimed = graph->without_each_on_host();
    const double share = evidence.retimed.ns / static_cast<double>(graph->window_ns());
    const Limiter limiter = limiter_of(
        evidence, [&](Limiter a, Limiter b) { return graph->without_ns(a, b)[0] * share; });
    if (limiter == result.limiter) return;
    result.until_work_ends = result.limiter;
    result.limiter = limiter;
    result.retimed = evidence.retimed;
    result.judged[0].limiter = limiter;
  }

  // A trace without steps starts with contexts and modules. What follows the last of it is judged
  // alone, if it is at least a hundredth of the trace.
  void judge_rest(Diagnosis& result) const {
    int64_t end_ns = INT64_MIN;
    for (const PathPart& part : result.path) {
      if (part.bound == Bound::kInitializing) end_ns = part.end_ns;
    }
    StepModel rest = result.step;
    rest.window.begin = end_ns;
    if (100 * (rest.window.end - end_ns) < result.step_ns()) return;
    const Analyzed analyzed = analyze_alone(rest);
    const Limiter limiter = limiter_of(evidence_of(rest, analyzed), [&](Limiter a, Limiter b) {
      return analyzed.graph->without_ns(a, b)[0];
    });
    if (limiter < Limiter::kNotConclusive && limiter != Limiter::kInitializing) {
      result.after_start_up = limiter;
    }
  }

  // Compares the critical path of each slow step, which may be cold, with that of the shown step.
  void find_slow_steps(const StepGroup& group, size_t shown, Diagnosis& result) const {
    std::vector<size_t> slow;
    const double limit = kSlowFactor * static_cast<double>(group.steps[shown].step_ns);
    for (size_t place = 0; place < group.steps.size(); ++place) {
      const StepModel& step = group.steps[place];
      if (static_cast<double>(step.step_ns) > limit) slow.push_back(place);
    }
    if (slow.empty()) return;
    result.slow_count = std::ssize(slow);
    result.slow_every = period_of(slow, group.steps.size());
    const LimiterTimes usual = path_of(group.steps[shown]);
    for (size_t i = 0; i < std::min(slow.size(), kMaxSlowSteps); ++i) {
      const StepModel& step = group.steps[slow[i]];
      LimiterTimes more = path_of(step);
      for (size_t one = 0; one < kLimiters; ++one) more[one] -= usual[one];
      result.slow.push_back({step.name, step.step_ns, static_cast<Limiter>(largest_place(more))});
    }
  }

  LimiterTimes path_of(const StepModel& step) const {
    LimiterTimes times{};
    for (const PathPart& part : analyze(step_window(step)).path) {
      times[static_cast<size_t>(limiter_of(part.bound))] += part.end_ns - part.begin_ns;
    }
    return times;
  }

  // The distance between slow steps if it is the same for at least three of them, and no further
  // one fits. 0 otherwise.
  static int64_t period_of(const std::vector<size_t>& places, size_t steps) {
    if (places.size() < 3) return 0;
    const size_t period = places[1] - places[0];
    for (size_t i = 1; i < places.size(); ++i) {
      if (places[i] - places[i - 1] != period) return 0;
    }
    const bool is_complete = places.front() < period && steps - places.back() <= period;
    return period > 1 && is_complete ? static_cast<int64_t>(period) : 0;
  }

  const StepModels& models_;
  const TraceIndex& index_;
  Intervals captures_;
  std::unordered_set<EventId> marks_;  // of steps
  Lazy<PythonFrames> frames_;
  Lazy<trace::LaneId> main_thread_;
};

}  // namespace

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
