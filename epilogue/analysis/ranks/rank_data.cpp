// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/rank_data.h"

#include <algorithm>
#include <map>

#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

constexpr size_t kMaxNames = 128;  // of kernels and host events, those with the most time

// The place of a value in a list, to which it is added if it is new.
template <typename T>
class Places {
 public:
  explicit Places(std::vector<T>& list) : list_(list) {}
  size_t of(T value) {
    const auto [known, is_new] = places_.try_emplace(value, list_.size());
    if (is_new) list_.push_back(std::move(value));
    return known->second;
  }

 private:
  std::vector<T>& list_;
  std::map<T, size_t> places_;
};

// The size of the tensor that all ranks together have: an all-gather's output. Other collectives
// have it as their input.
int64_t whole_bytes(const Collective& collective, int64_t ranks) {
  if (collective.kind != "all_gather") return collective.in_bytes.value_or(-1);
  if (collective.out_bytes) return *collective.out_bytes;
  int64_t bytes = 0;
  if (!collective.in_bytes || ranks == 0) return -1;
  if (__builtin_mul_overflow(*collective.in_bytes, ranks, &bytes)) return -1;
  return bytes;
}

Between between_of(const IdleGap& gap) {
  switch (gap.cause) {
    case IdleCause::kNotInTrace:
    case IdleCause::kNoLaunch:
      return Between::kNotInTrace;
    case IdleCause::kNotLaunched:
      if (gap.activity == HostActivity::kDataLoading) return Between::kDataLoading;
      if (gap.activity == HostActivity::kSynchronizing) return Between::kSynchronizing;
      return Between::kHost;
    default:
      return Between::kHost;
  }
}

// A time in which the device of a rank does one thing, or waits for one.
struct Span {
  Interval when;
  Between kind;
};

// Compute, copies and idle intervals, which do not overlap. Communication is left out.
std::vector<Span> spans_of(const TraceIndex& index, const DeviceWork& device,
                           const std::vector<IdleGap>& gaps) {
  Intervals compute;
  Intervals communication;
  Intervals copies;
  for (const EventId id : device.work()) {
    const bool is_kernel = index.trace.category[id] == trace::Category::kKernel;
    const bool is_comm = is_kernel && index.names[index.trace.name[id]].kind == Kind::kComm;
    (is_comm     ? communication
     : is_kernel ? compute
                 : copies)
        .push_back({index.trace.ts_ns[id], index.trace.end_ns(id)});
  }
  compute = merged(std::move(compute));
  copies =
      difference(difference(merged(std::move(copies)), compute), merged(std::move(communication)));
  std::vector<Span> spans;
  for (const Interval& one : compute) spans.push_back({one, Between::kCompute});
  for (const Interval& one : copies) spans.push_back({one, Between::kCopies});
  for (const IdleGap& gap : gaps) spans.push_back({gap.when, between_of(gap)});
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.when.begin < b.when.begin; });
  return spans;
}

// What the rank did from the end of each collective to the start of the next.
void add_times_before(const std::vector<Span>& spans, std::vector<RankCollective>& collectives) {
  int64_t free_from = spans.empty() ? 0 : spans.front().when.begin;
  size_t next = 0;
  for (RankCollective& one : collectives) {
    const Interval window{free_from, one.when.begin};
    while (next < spans.size() && spans[next].when.end <= window.begin) ++next;
    for (size_t i = next; i < spans.size() && spans[i].when.begin < window.end; ++i) {
      const int64_t begin = std::max(spans[i].when.begin, window.begin);
      const int64_t end = std::min(spans[i].when.end, window.end);
      if (begin < end) one.before[static_cast<size_t>(spans[i].kind)] += end - begin;
    }
    free_from = std::max(free_from, one.when.end);
  }
}

// The part of each collective during which the device computes nothing.
void add_exposed_times(const std::vector<Span>& spans, std::vector<RankCollective>& collectives) {
  size_t next = 0;
  for (RankCollective& one : collectives) {
    one.exposed_ns = one.when.end - one.when.begin;
    while (next < spans.size() && spans[next].when.end <= one.when.begin) ++next;
    for (size_t i = next; i < spans.size() && spans[i].when.begin < one.when.end; ++i) {
      if (spans[i].kind != Between::kCompute) continue;
      one.exposed_ns -= std::max<int64_t>(0, std::min(spans[i].when.end, one.when.end) -
                                                 std::max(spans[i].when.begin, one.when.begin));
    }
  }
}

std::vector<RankActivity> named_times(const TraceIndex& index, const std::vector<IdleGap>& gaps) {
  std::map<std::pair<Between, trace::NameId>, int64_t> sums;
  for (const EventId id : index.ownership.everything().work) {
    const bool is_kernel = index.trace.category[id] == trace::Category::kKernel;
    const trace::NameId name = index.trace.name[id];
    if (is_kernel && index.names[name].kind == Kind::kComm) continue;
    sums[{is_kernel ? Between::kCompute : Between::kCopies, name}] += index.trace.dur_ns[id];
  }
  for (const IdleGap& gap : gaps) {
    if (gap.host == kNoEvent) continue;
    sums[{between_of(gap), index.trace.name[gap.host]}] += gap.ns();
  }
  std::vector<RankActivity> times;
  for (const auto& [key, ns] : sums) {
    times.push_back({key.first, std::string(index.trace.names[key.second]), ns});
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const RankActivity& a, const RankActivity& b) { return a.ns > b.ns; });
  if (times.size() > kMaxNames) times.resize(kMaxNames);
  return times;
}

// The N of the ProfilerStep#N in which a collective was launched.
int64_t step_of(const TraceIndex& index, const StepGroup& steps, EventId kernel) {
  const int64_t launched = index.links.launch_ns[kernel];
  const auto after =
      std::upper_bound(steps.steps.begin(), steps.steps.end(), launched,
                       [](int64_t ns, const StepModel& step) { return ns < step.host.begin; });
  if (after == steps.steps.begin()) return -1;
  const std::string_view name = std::prev(after)->name;
  if (!trace::is_step_name(name)) return -1;
  return trace::parse_integer_token(trace::step_number(name)).value_or(-1);
}

void add_collectives(const StepModels& models, RankData& rank) {
  const TraceIndex& index = models.index();
  Places<std::string> kinds(rank.kinds);
  Places<ProcessGroup> groups(rank.groups);
  for (Collective& collective : collectives(index)) {
    if (collective.kind == "send" || collective.kind == "recv" || collective.kind == "send_recv") {
      ++rank.point_to_point;
      continue;
    }
    RankCollective one;
    ProcessGroup group{std::move(collective.group), std::move(collective.group_ranks),
                       collective.group_size.value_or(0)};
    if (group.name.empty() && group.size == 0) group.size = rank.world_size;
    one.bytes = whole_bytes(collective, group.size);
    one.kind = kinds.of(std::move(collective.kind));
    one.group = groups.of(std::move(group));
    one.sequence = collective.sequence.value_or(-1);
    one.step = step_of(index, models.steps(), collective.kernel);
    one.when = {index.trace.ts_ns[collective.kernel], index.trace.end_ns(collective.kernel)};
    rank.collectives.push_back(one);
  }
  std::stable_sort(
      rank.collectives.begin(), rank.collectives.end(),
      [](const RankCollective& a, const RankCollective& b) { return a.when.begin < b.when.begin; });
  rank.recorded_collectives = static_cast<int64_t>(rank.collectives.size());
}

// The steps on one device. One step for a trace that marks none: all of it.
void add_steps(const StepModels& models, const DeviceWork& device, RankData& rank) {
  const StepGroup& group = models.judged();
  for (const StepModel& step : group.steps) {
    const auto number = trace::is_step_name(step.name)
                            ? trace::parse_integer_token(trace::step_number(step.name))
                            : std::nullopt;
    rank.steps.push_back({number.value_or(std::ssize(rank.steps)), step.cold, false, step.window,
                          models.shares(step, device), sum_of(models.gaps(step))});
  }
  for (const size_t place : group.warm()) rank.steps[place].is_judged = true;
}

}  // namespace

bool is_synchronizing_kind(std::string_view kind) {
  return kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" ||
         kind == "all_to_all" || kind == "barrier";
}

// nccl-tests, PERFORMANCE.md.
double bus_factor(std::string_view kind, double ranks) {
  if (kind == "all_reduce") return 2 * (ranks - 1) / ranks;
  const bool is_split = kind == "all_gather" || kind == "reduce_scatter" || kind == "all_to_all";
  return is_split ? (ranks - 1) / ranks : 1;
}

RankData rank_data(const StepModels& models) {
  const TraceIndex& index = models.index();
  RankData rank;
  rank.device = device_name(index.trace);
  const auto& info = index.trace.property("distributedInfo");
  const auto number = [&](std::string_view key) -> std::optional<int64_t> {
    const auto token = trace::find_value(info, key);
    return token ? trace::parse_integer_token(*token) : std::nullopt;
  };
  rank.world_size = std::max<int64_t>(number("world_size").value_or(0), 0);
  add_collectives(models, rank);
  // A process with several devices: the one with the most work.
  if (const DeviceWork* device = models.shown_device()) {
    const auto gaps = clipped(models.gaps(*device), device->window());
    const std::vector<Span> spans = spans_of(index, *device, gaps);
    add_times_before(spans, rank.collectives);
    add_exposed_times(spans, rank.collectives);
    rank.activities = named_times(index, gaps);
    add_steps(models, *device, rank);
  }
  if (const auto diagnosis = diagnose(models, models.judged())) {
    rank.limiter = diagnosis->limiter;
    rank.unexplained_share = diagnosis->unexplained_share();
  }
  // A base that leaves room for the times of events and their differences.
  constexpr int64_t kMaxBase = int64_t{1} << 61;
  const int64_t base = std::clamp(index.trace.base_time_ns, -kMaxBase, kMaxBase);
  const auto since_1970 = [&](Interval& when) {
    when.begin += base;
    when.end += base;
  };
  for (RankCollective& one : rank.collectives) since_1970(one.when);
  for (RankStep& step : rank.steps) since_1970(step.when);
  return rank;
}

RankTimes times_of(const RankData& rank) {
  std::vector<int64_t> step_ns;
  std::vector<size_t> all;
  std::vector<size_t> judged;
  for (size_t i = 0; i < rank.steps.size(); ++i) {
    step_ns.push_back(rank.steps[i].shares.window_ns);
    all.push_back(i);
    if (rank.steps[i].is_judged) judged.push_back(i);
  }
  RankTimes times;
  if (all.empty()) return times;
  const RankStep& step = rank.steps[median_place(step_ns, judged.empty() ? all : judged)];
  const TimeShares& shares = step.shares;
  times.step_ns = static_cast<double>(shares.window_ns);
  times.compute_ns = static_cast<double>(shares.compute_ns);
  times.exposed_ns = static_cast<double>(shares.exposed_communication_ns);
  times.hidden_ns = static_cast<double>(shares.communication_ns - shares.exposed_communication_ns);
  times.copies_ns = static_cast<double>(shares.exposed_copies_ns);
  times.others_ns = static_cast<double>(shares.others_ns);
  times.idle_ns = static_cast<double>(shares.idle_ns);
  times.idle = step.idle;
  return times;
}

double median_step_ns(const std::vector<RankData>& ranks) {
  std::vector<double> steps;
  for (const RankData& rank : ranks) {
    if (const double ns = times_of(rank).step_ns; ns > 0) steps.push_back(ns);
  }
  return median(std::move(steps));
}

bool keep_step(RankData& rank, int64_t number) {
  rank.is_one_step = true;
  std::erase_if(rank.steps, [&](const RankStep& step) { return step.number != number; });
  if (rank.steps.empty()) {
    rank.collectives.clear();
    return false;
  }
  const Interval when = rank.steps[0].when;
  std::erase_if(rank.collectives, [&](const RankCollective& one) {
    if (one.step >= 0) return one.step != number;
    return one.when.begin < when.begin || one.when.begin >= when.end;
  });
  return true;
}

bool keep_group(RankData& rank, const std::string& name) {
  std::erase_if(rank.collectives,
                [&](const RankCollective& one) { return rank.groups[one.group].name != name; });
  std::vector<ProcessGroup> kept;
  Places<ProcessGroup> places(kept);
  for (RankCollective& one : rank.collectives) one.group = places.of(rank.groups[one.group]);
  rank.groups = std::move(kept);
  return !rank.collectives.empty();
}

}  // namespace epi::analysis
