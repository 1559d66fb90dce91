// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/host_activity.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "epilogue/analysis/index/search.h"
#include "epilogue/analysis/names/runtime_call.h"
#include "epilogue/analysis/time/mark_host_work.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

// A call that normally takes microseconds takes longer if the driver first creates a context or
// loads a module. On an idle device, no other launch or query was observed to take this long.
constexpr int64_t kInitializationNs = 1000000;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_module_loading(std::string_view name) {
  return contains(name, "Lazy Function Loading") || contains(name, "Module Loading");
}

// The activity that an event passes on to everything below it.
std::optional<HostActivity> inherited(std::string_view name) {
  if (contains(name, "DataLoader") || contains(name, "pin_memory")) {
    return HostActivity::kDataLoading;
  }
  if (is_compiling(name)) return HostActivity::kCompiling;
  if (is_module_loading(name)) return HostActivity::kInitializing;
  if (name == "TorchDynamo Cache Lookup" || name == "Epilogue Guards") return HostActivity::kGuards;
  return std::nullopt;
}

// Python's frame around a fetch: "torch/utils/data/dataloader.py(708): __next__".
bool is_loading_frame(std::string_view name) {
  return contains(name, "utils/data/dataloader.py") && contains(name, "__next__");
}

}  // namespace

// PyTorch's compiler: "_compile.compile_inner", "compile_fx_inner", "inductor_compile", ... Ours:
// "Epilogue Compile: mlp (first call)".
bool is_compiling(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "compile_inner",    "compile_fx",    "inductor_compile",     "backend_compile",
      "inductor_codegen", "async_compile", "entire_frame_compile", "build_guards"};
  return name.starts_with("Epilogue Compile:") ||
         std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return contains(name, word); });
}

HostTimeline::HostTimeline(const TraceIndex& index)
    : is_step_(index.trace.size(), false),
      waits_for_own_copy_(index.trace.size(), false),
      may_start_up_(index.trace.size(), false),
      lanes_(index.trace.lanes.size()),
      first_ns_(index.trace.lanes.size(), INT64_MAX) {
  const trace::Trace& trace = index.trace;
  for (trace::NameId name = 0; name < trace.names.size(); ++name) {
    calls_.push_back(runtime_call(trace.names[name]));
    inherited_.push_back(inherited(trace.names[name]));
  }
  for (const EventId id : index.ownership.marks().events) is_step_[id] = true;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace::is_host(trace.category[id])) {
      int64_t& first = first_ns_[trace.lane[id]];
      first = std::min(first, trace.ts_ns[id]);
    }
    if (!trace.is_span(id) || !trace::is_device_work(trace.category[id])) continue;
    device_busy_.push_back({trace.ts_ns[id], trace.end_ns(id)});
    // From pageable memory, even an "Async" copy returns only when nearly everything is copied.
    const EventId call = index.links.launch[id];
    const bool copy = trace.category[id] == Category::kGpuMemcpy && call != kNoEvent;
    const int64_t during = copy ? trace.end_ns(call) - trace.ts_ns[id] : 0;
    if (during > 0 && 2 * during >= trace.dur_ns[id]) waits_for_own_copy_[call] = true;
  }
  device_busy_ = merged(std::move(device_busy_));
  find_start_up(index);
  for (trace::LaneId lane = 0; lane < lanes_.size(); ++lane) add_lane(index, lane);
  mark_loading_frames(index);
  mark_host_work(index, lanes_);
}

namespace {

// Newer drivers record when they load the code of a kernel: as an event beside the call.
void mark_recorded_loading(const trace::Trace& trace, std::vector<bool>& may_start_up) {
  Intervals loading;
  for (EventId id = 0; id < trace.size(); ++id) {
    const bool is_loading = trace.is_span(id) && trace.category[id] == Category::kOverhead &&
                            is_module_loading(trace.name_of(id));
    if (is_loading) loading.push_back({trace.ts_ns[id], trace.end_ns(id)});
  }
  if (loading.empty()) return;
  loading = merged(std::move(loading));
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || !trace::is_call(trace.category[id])) continue;
    const int64_t ns = length(clipped(loading, trace.ts_ns[id], trace.end_ns(id)));
    if (ns > 0 && 2 * ns >= trace.dur_ns[id]) may_start_up[id] = true;
  }
}

}  // namespace

// The driver loads a kernel's module at the first launch of the kernel. Other calls are slow once,
// when they create the context. Both are over when the first step is.
void HostTimeline::find_start_up(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  const std::vector<EventId>& steps = index.ownership.marks().events;
  const int64_t end_ns = steps.empty() ? INT64_MAX : trace.end_ns(steps.front());
  std::vector<EventId> first_launch(trace.names.size(), kNoEvent);  // by kernel
  for (const EventId work : index.ownership.everything().work) {    // by launch time
    const EventId call = index.links.launch[work];
    if (call == kNoEvent) continue;
    EventId& first = first_launch[trace.name[work]];
    if (first == kNoEvent) first = call;
    may_start_up_[call] = may_start_up_[call] || first == call;
  }
  std::vector<EventId> first_call(trace.names.size(), kNoEvent);
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || !trace::is_call(trace.category[id])) continue;
    EventId& first = first_call[trace.name[id]];
    if (first == kNoEvent || trace.ts_ns[id] < trace.ts_ns[first]) first = id;
    if (trace.ts_ns[id] >= end_ns) may_start_up_[id] = false;
  }
  for (const EventId id : first_call) {
    if (id != kNoEvent && trace.ts_ns[id] < end_ns) may_start_up_[id] = true;
  }
  mark_recorded_loading(trace, may_start_up_);
}

int64_t HostTimeline::submitted_ns(const trace::Trace& trace, EventId call) const {
  // Submission time of a call that waits, taken from typical launches.
  constexpr int64_t kSubmitNs = 5000;
  const bool waits = calls_[trace.name[call]] == RuntimeCall::kWait || waits_for_own_copy_[call];
  return trace.ts_ns[call] + (waits ? std::min(kSubmitNs, trace.dur_ns[call]) : trace.dur_ns[call]);
}

HostActivity HostTimeline::activity_of_call(const TraceIndex& index, EventId call) const {
  const trace::Trace& trace = index.trace;
  const RuntimeCall kind = calls_[trace.name[call]];
  if (kind == RuntimeCall::kWait) return HostActivity::kSynchronizing;
  if (kind == RuntimeCall::kInitialization) return HostActivity::kInitializing;
  if (kind == RuntimeCall::kAllocation || kind == RuntimeCall::kFree) {
    return HostActivity::kAllocating;
  }
  // The call's own kernel may start before the call returns, hence the tolerance.
  constexpr int64_t kIdleParts = 10;
  if (may_start_up_[call] && trace.dur_ns[call] >= kInitializationNs &&
      kIdleParts * length(clipped(device_busy_, trace.ts_ns[call], trace.end_ns(call))) <
          trace.dur_ns[call]) {
    return HostActivity::kInitializing;
  }
  return waits_for_own_copy_[call] ? HostActivity::kSynchronizing : HostActivity::kLaunching;
}

// Parents come before their children. The innermost open event gets the time since the last change.
void HostTimeline::add_lane(const TraceIndex& index, trace::LaneId lane) {
  const trace::Trace& trace = index.trace;
  struct Open {
    int64_t end;
    HostActivity activity;
    EventId event;
    bool is_inherited;
  };
  std::vector<Segment>& segments = lanes_[lane];
  std::vector<Open> open;
  int64_t at = 0;
  const auto advance = [&](int64_t to) {  // the innermost event covers [at, to)
    if (to > at && !open.empty()) {
      segments.push_back({at, to, open.back().activity, open.back().event});
    }
    at = std::max(at, to);
  };
  const auto [first, last] = index.lane_ranges[lane];
  segments.reserve(2 * (last - first));  // at most one when an event starts and one when it ends
  for (size_t i = first; i < last; ++i) {
    const EventId id = index.links.tree.order[i];
    while (!open.empty() && open.back().end <= trace.ts_ns[id]) {
      advance(open.back().end);
      open.pop_back();
    }
    advance(trace.ts_ns[id]);
    const Category category = trace.category[id];
    Open next{trace.end_ns(id), HostActivity::kBetweenOps, id, false};
    if (!open.empty() && open.back().is_inherited) {
      next.activity = open.back().activity;
      next.is_inherited = true;
    } else if (trace::is_call(category)) {
      next.activity = activity_of_call(index, id);
    } else if (const auto special = inherited_[trace.name[id]]) {
      next.activity = *special;
      next.is_inherited = true;
    } else if (category == Category::kCpuOp && !is_step_[id]) {
      next.activity = HostActivity::kDispatch;
    }
    open.push_back(next);
  }
  while (!open.empty()) {
    advance(open.back().end);
    open.pop_back();
  }
}

// Python frames are not host events, because they may partially overlap operators. A fetch that
// only they show still counts.
void HostTimeline::mark_loading_frames(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  std::vector<Intervals> frames(lanes_.size());
  for (EventId id = 0; id < trace.size(); ++id) {
    const bool frame = trace.is_span(id) && trace.category[id] == Category::kPythonFunction;
    if (!frame || !is_loading_frame(trace.name_of(id))) continue;
    frames[trace.lane[id]].push_back({trace.ts_ns[id], trace.end_ns(id)});
  }
  for (trace::LaneId lane = 0; lane < lanes_.size(); ++lane) {
    if (frames[lane].empty()) continue;
    const Intervals loading = merged(std::move(frames[lane]));
    std::vector<Segment> marked;
    const int64_t begin = std::min(loading.front().begin,
                                   lanes_[lane].empty() ? INT64_MAX : lanes_[lane].front().begin);
    const int64_t end =
        std::max(loading.back().end, lanes_[lane].empty() ? INT64_MIN : lanes_[lane].back().end);
    for (const Segment& one : segments(lane, begin, end)) {
      int64_t at = one.begin;
      for (const Interval& part : clipped(loading, one.begin, one.end)) {
        if (at < part.begin) marked.push_back({at, part.begin, one.activity, one.event});
        marked.push_back({part.begin, part.end, HostActivity::kDataLoading, one.event});
        at = part.end;
      }
      if (at < one.end) marked.push_back({at, one.end, one.activity, one.event});
    }
    lanes_[lane] = std::move(marked);
  }
}

std::vector<HostTimeline::Segment> HostTimeline::segments(trace::LaneId lane, int64_t begin_ns,
                                                          int64_t end_ns) const {
  size_t place = lanes_[lane].size() / 2;
  return segments(lane, begin_ns, end_ns, place);
}

std::vector<HostTimeline::Segment> HostTimeline::segments(trace::LaneId lane, int64_t begin_ns,
                                                          int64_t end_ns, size_t& place) const {
  const auto& all = lanes_[lane];
  place = count_before(all, place, [&](const Segment& one) { return one.end <= begin_ns; });
  std::vector<Segment> result;
  int64_t covered_to = begin_ns;
  const auto add_gap = [&](int64_t to) {
    if (to > covered_to) result.push_back({covered_to, to, HostActivity::kBetweenOps, kNoEvent});
  };
  for (size_t i = place; i < all.size() && all[i].begin < end_ns; ++i) {
    Segment one = all[i];
    one.begin = std::max(one.begin, begin_ns);
    one.end = std::min(one.end, end_ns);
    add_gap(one.begin);
    covered_to = one.end;
    result.push_back(one);
  }
  add_gap(end_ns);
  return result;
}

}  // namespace epi::analysis
