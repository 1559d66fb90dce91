// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/advice_host.h"

#include <algorithm>
#include <map>
#include <set>

#include "epilogue/analysis/index/enclosing.h"
#include "epilogue/analysis/time/host_activity.h"
#include "epilogue/analysis/time/loading.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

bool is_region(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("Epilogue-Compiled Region");
}

double duration_ns(const TraceIndex& index, EventId id) {
  return static_cast<double>(index.trace.dur_ns[id]);
}

// How long the device is idle after a wait, until the next work launched after it starts.
class IdleAfterWaits {
 public:
  explicit IdleAfterWaits(const HostView& view) : view_(view) {
    const auto& work = view.owned.work;  // by launch time
    const trace::Trace& trace = view.index.trace;
    ends_.resize(work.size() + 1, INT64_MIN);
    starts_.resize(work.size() + 1, INT64_MAX);
    for (size_t i = 0; i < work.size(); ++i) {
      ends_[i + 1] = std::max(ends_[i], trace.end_ns(work[i]));
    }
    for (size_t i = work.size(); i-- > 0;) {
      starts_[i] = std::min(starts_[i + 1], trace.ts_ns[work[i]]);
    }
  }

  double after(EventId wait) const {
    const int64_t wait_ns = view_.index.trace.ts_ns[wait];
    const auto& work = view_.owned.work;
    const auto after_wait = std::lower_bound(
        work.begin(), work.end(), wait_ns,
        [&](EventId id, int64_t ns) { return view_.index.links.launch_ns[id] < ns; });
    const auto place = static_cast<size_t>(after_wait - work.begin());
    if (starts_[place] == INT64_MAX) return 0;
    const int64_t last = std::max(ends_[place], wait_ns);
    return static_cast<double>(std::max<int64_t>(0, starts_[place] - last));
  }

 private:
  const HostView& view_;
  std::vector<int64_t> ends_;    // [i]: latest end of the first i
  std::vector<int64_t> starts_;  // [i]: earliest start from i on
};

}  // namespace

bool is_compiled(const HostView& view) {
  double all = 0;
  double compiled = 0;
  for (const EventId work : view.owned.work) {
    all += duration_ns(view.index, work);
    const EventId region = find_enclosing(view.index, view.index.links.op[work], [&](EventId id) {
      return is_region(view.index.trace.name_of(id));
    });
    if (region != kNoEvent) compiled += duration_ns(view.index, work);
  }
  return compiled > all / 2;
}

bool replays_graphs(const HostView& view) {
  double all = 0;
  double replayed = 0;
  for (const EventId work : view.owned.work) {
    all += duration_ns(view.index, work);
    const EventId launch = view.index.links.launch[work];
    const bool graph = launch != kNoEvent && view.index.trace.name_of(launch).find("GraphLaunch") !=
                                                 std::string_view::npos;
    if (graph) replayed += duration_ns(view.index, work);
  }
  return replayed > all / 2;
}

void advise_input(const HostView& view, const Diagnosis& diagnosis, std::vector<Advice>& advice) {
  constexpr double kMinShare = 0.05;
  if (diagnosis.share(Limiter::kInput) < kMinShare) return;
  const Loading loading = loading_in(view.index, diagnosis.window);
  const auto judged = static_cast<double>(diagnosis.judged);
  const double ns = static_cast<double>(diagnosis.ns(Limiter::kInput)) / judged;
  Advice one;
  one.kind = AdviceKind::kInput;
  one.on_device = false;
  if (!loading.function.empty()) one.about = {loading.function};
  one.has_workers = loading.loader.find("MultiProcessing") != std::string::npos;
  // With enough workers, device work hides all of it except the handover of a batch. Measured in
  // pairs of recordings on an H200, see docs/advise.md.
  one.saving_ns = {0.5 * ns, 0.94 * ns, ns};
  one.confidence = one.has_workers ? Confidence::kGuess : Confidence::kLikely;
  one.terms = {{Term::What::kCalls, static_cast<double>(loading.fetches) / judged},
               {Term::What::kTakes, static_cast<double>(loading.ns) / judged}};
  for (const PathPart& part : diagnosis.path) {
    if (part.bound == Bound::kInput && part.event != kNoEvent) one.events.push_back(part.event);
  }
  advice.push_back(std::move(one));
}

void advise_runtime(const Diagnosis& diagnosis, std::vector<Advice>& advice) {
  constexpr double kMinShare = 0.05;
  const auto judged = static_cast<double>(diagnosis.judged);
  const auto add = [&](AdviceKind kind, Bound bound, const Estimate& removed) {
    const double ns = static_cast<double>(diagnosis.bounds[static_cast<size_t>(bound)]) / judged;
    if (diagnosis.share(bound) < kMinShare) return;
    Advice one;
    one.kind = kind;
    one.on_device = false;
    one.saving_ns = {removed.low * ns, removed.likely * ns, removed.high * ns};
    for (const PathPart& part : diagnosis.path) {
      if (part.bound == bound && part.event != kNoEvent) one.events.push_back(part.event);
    }
    one.terms = {{Term::What::kCalls, static_cast<double>(one.events.size()) / judged},
                 {Term::What::kTakes, ns}};
    advice.push_back(std::move(one));
  };
  // No pairs were recorded. This is a rule of thumb.
  add(AdviceKind::kAllocation, Bound::kAllocating, {0.5, 0.9, 1});
  // The path does not show how much compute is available for overlap, nor whether anything waits
  // for the result.
  add(AdviceKind::kOverlap, Bound::kCommunication, {0, 0.5, 1});
}

void advise_launches(const HostView& view, const Diagnosis& diagnosis,
                     std::vector<Advice>& advice) {
  constexpr double kMinShare = 0.15;
  constexpr double kMostlyIdle = 0.5;
  // Share of a profiled step's waiting that a graph removes. There is less of it without a
  // profiler. Measured in pairs of recordings on an H200, see docs/advise.md.
  constexpr Estimate kRemoved = {0.38, 0.55, 0.65};
  const auto waits = static_cast<double>(diagnosis.host_idle_ns());
  const auto window_ns = static_cast<double>(diagnosis.window_ns());
  const bool has_graph =
      std::any_of(view.owned.launches.begin(), view.owned.launches.end(), [&](EventId id) {
        return view.index.trace.name_of(id).find("GraphLaunch") != std::string_view::npos;
      });
  if (window_ns <= 0 || waits < kMinShare * window_ns || diagnosis.limiter == Limiter::kCapture) {
    return;
  }
  const Measures& measures = view.instance.measures;
  const std::vector<Term> terms = {{Term::What::kDeviceWaits, waits},
                                   {Term::What::kWindow, window_ns},
                                   {Term::What::kLaunches, static_cast<double>(measures.launches)}};
  constexpr int64_t kFewLaunches = 1;  // the graph itself is launched, too
  if (!has_graph && measures.launches > kFewLaunches) {
    Advice one;
    one.kind = AdviceKind::kGraph;
    one.on_device = false;
    one.saving_ns = {kRemoved.low * waits, kRemoved.likely * waits, kRemoved.high * waits};
    // A graph cannot contain a wait for the device.
    one.confidence = measures.syncs == 0 ? Confidence::kLikely : Confidence::kGuess;
    one.terms = terms;
    one.events = view.owned.launches;
    advice.push_back(std::move(one));
  }
  if (has_graph) return;  // a replay has a fixed number of rows
  if (waits < kMostlyIdle * window_ns || measures.busy_ns == 0) return;
  Advice batch;
  batch.kind = AdviceKind::kBatch;
  batch.on_device = false;
  const auto busy_ns = static_cast<double>(measures.busy_ns);
  // Time per original batch at twice the rows: half of the larger of the host's and the device's
  // time.
  const auto saved = [&](double host) {
    return host * window_ns - std::max(host * window_ns, 2 * busy_ns) / 2;
  };
  batch.saving_ns = {std::max(0.0, saved(kUnprofiledHost.low)),
                     std::max(0.0, saved(kUnprofiledHost.likely)), saved(kUnprofiledHost.high)};
  batch.terms = terms;
  batch.terms.push_back(
      {Term::What::kRowsCouldGrow, window_ns / static_cast<double>(measures.busy_ns)});
  advice.push_back(std::move(batch));
}

void advise_waits(const HostView& view, std::vector<Advice>& advice) {
  const TraceIndex& index = view.index;
  const IdleAfterWaits idle_after_waits(view);
  std::map<std::string, Advice> by_op;
  for (const EventId id : view.owned.syncs) {
    const EventId op = index.links.op[id];
    const bool in_op = op != kNoEvent && index.trace.category[op] == Category::kCpuOp;
    const std::string name(index.trace.name_of(in_op ? op : id));
    Advice& one = by_op[name];
    if (one.terms.empty()) {
      one.kind = AdviceKind::kSync;
      one.on_device = false;
      one.about = {name};
      one.terms = {
          {Term::What::kCalls, 0}, {Term::What::kCpuWaits, 0}, {Term::What::kIdleAfter, 0}};
    }
    const double idle_ns = idle_after_waits.after(id);
    one.terms[0].value += 1;
    one.terms[1].value += duration_ns(index, id);
    one.terms[2].value += idle_ns;
    one.saving_ns.likely += idle_ns;
    one.saving_ns.high += std::max(idle_ns, duration_ns(index, id));
    one.events.push_back(id);
  }
  for (auto& [name, one] : by_op) {
    if (one.saving_ns.likely > 0) advice.push_back(std::move(one));
  }
  Advice pageable;
  pageable.kind = AdviceKind::kPageable;
  double ns = 0;
  for (const EventId id : view.owned.work) {
    if (index.trace.category[id] != Category::kGpuMemcpy ||
        index.trace.name_of(id).find("Pageable") == std::string_view::npos) {
      continue;
    }
    pageable.events.push_back(id);
    ns += duration_ns(index, id);
  }
  if (pageable.events.empty()) return;
  // Measured in pairs of recordings on an H200, see docs/advise.md.
  pageable.saving_ns = {0.5 * ns, 0.72 * ns, 0.95 * ns};
  pageable.terms = {{Term::What::kCopies, static_cast<double>(pageable.events.size())},
                    {Term::What::kTakes, ns}};
  advice.push_back(std::move(pageable));
}

void advise_compiled(const HostView& view, std::vector<Advice>& advice) {
  const TraceIndex& index = view.index;
  Advice guards;
  guards.kind = AdviceKind::kGuards;
  Advice breaks;
  breaks.kind = AdviceKind::kBreaks;
  double guards_ns = 0;
  std::set<std::string_view> frames;  // a region called once per layer is not a graph break
  for (const EventId id : view.events) {
    const std::string_view name = index.trace.name_of(id);
    if (name == "TorchDynamo Cache Lookup" || name == "Epilogue Guards") {
      guards.events.push_back(id);
      guards_ns += duration_ns(index, id);
    }
    if (is_region(name)) {
      breaks.events.push_back(id);
      frames.insert(name.substr(0, name.rfind('/')));
    }
  }
  if (guards.events.empty()) return;
  guards.on_device = breaks.on_device = false;
  guards.saving_ns = {0, guards_ns / 2, guards_ns};
  const auto count = static_cast<double>(guards.events.size());
  guards.terms = {{Term::What::kLookUps, count}, {Term::What::kTakes, guards_ns}};
  const auto regions = static_cast<double>(frames.size());
  if (regions > 1) {
    const double each_ns = guards_ns / count;
    breaks.terms = {{Term::What::kRegionsInStep, regions}, {Term::What::kLookUpTakes, each_ns}};
    breaks.saving_ns = {0, (regions - 1) * each_ns, 2 * (regions - 1) * each_ns};
    advice.push_back(std::move(breaks));
  }
  advice.push_back(std::move(guards));
}

double advise_compiling(const TraceIndex& index, std::vector<Advice>& advice) {
  Advice recompiles;
  recompiles.kind = AdviceKind::kRecompiles;
  Advice compiling;
  compiling.kind = AdviceKind::kCompiling;
  std::map<std::string, std::set<std::string>> variants;
  double ns = 0;
  const InstanceGroup all_steps = steps(index.trace, index.ownership);
  const int64_t first_ns = all_steps.instances.empty() ? 0 : all_steps.instances.front().begin_ns;
  const int64_t last_ns = all_steps.instances.empty() ? 0 : all_steps.instances.back().end_ns;
  std::map<trace::LaneId, int64_t> until;               // end of each thread's last compilation
  std::vector<bool> matters(index.trace.names.size());  // by name: few names out of many events
  for (trace::NameId name = 0; name < matters.size(); ++name) {
    matters[name] = is_region(index.trace.names[name]) || is_compiling(index.trace.names[name]);
  }
  for (const EventId id : index.links.tree.order) {
    if (!matters[index.trace.name[id]]) continue;
    const std::string_view name = index.trace.name_of(id);
    const size_t slash = name.rfind('/');
    if (is_region(name) && slash != std::string_view::npos) {
      const bool is_new = variants[std::string(name.substr(0, slash))]
                              .insert(std::string(name.substr(slash + 1)))
                              .second;
      if (is_new) recompiles.events.push_back(id);
    }
    const int64_t begin_ns = index.trace.ts_ns[id];
    int64_t& busy_ns = until[index.trace.lane[id]];
    if (is_compiling(name) && begin_ns >= std::max(first_ns, busy_ns) && begin_ns < last_ns) {
      compiling.events.push_back(id);
      ns += duration_ns(index, id);
      busy_ns = index.trace.end_ns(id);
    }
  }
  const auto regions = static_cast<double>(variants.size());
  const auto all = static_cast<double>(recompiles.events.size());
  if (all > regions) {
    recompiles.on_device = false;
    recompiles.terms = {{Term::What::kRegions, regions}, {Term::What::kVariants, all}};
    advice.push_back(std::move(recompiles));
  }
  if (ns > 0) {
    compiling.on_device = false;
    compiling.terms = {{Term::What::kCompilations, static_cast<double>(compiling.events.size())},
                       {Term::What::kTakesInSteps, ns}};
    advice.push_back(std::move(compiling));
  }
  return ns;
}

}  // namespace epi::analysis
