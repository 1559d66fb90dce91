// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/host_activity.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What everything below this event belongs to, too.
std::optional<HostActivity> inherited(std::string_view name) {
  if (contains(name, "DataLoader")) return HostActivity::kDataLoading;
  if (is_compiling(name)) return HostActivity::kCompiling;
  if (name == "TorchDynamo Cache Lookup" || name == "Epilogue Guards") return HostActivity::kGuards;
  return std::nullopt;
}

HostActivity own_activity(const trace::Trace& trace, EventId id) {
  if (trace::is_call(trace.category[id])) {
    return is_synchronizing(trace.name_of(id)) ? HostActivity::kSynchronizing : HostActivity::kCall;
  }
  return trace.category[id] == Category::kCpuOp ? HostActivity::kDispatch
                                                : HostActivity::kBetweenOps;
}

}  // namespace

// Of PyTorch's compiler: "_compile.compile_inner", "compile_fx_inner", "inductor_compile", ...
bool is_compiling(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "compile_inner",    "compile_fx",    "inductor_compile",     "backend_compile",
      "inductor_codegen", "async_compile", "entire_frame_compile", "build_guards"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return contains(name, word); });
}

// Parents come before their children: the innermost open event has the time from the last change
// on.
HostTimeline::HostTimeline(const TraceIndex& index) : lanes_(index.trace.lanes.size()) {
  const trace::Trace& trace = index.trace;
  struct Open {
    int64_t end;
    HostActivity activity;
    bool passes_on;
  };
  std::vector<HostActivity> of_name(trace.names.size());
  std::vector<uint8_t> passes_on(trace.names.size(), 2);  // 2: not looked at yet
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto [first, last] = index.lane_ranges[lane];
    std::vector<Segment>& segments = lanes_[lane];
    std::vector<Open> open;
    int64_t at = 0;
    const auto advance = [&](int64_t to) {  // the innermost event had [at, to)
      if (to > at && !open.empty()) segments.push_back({at, to, open.back().activity});
      at = std::max(at, to);
    };
    for (size_t i = first; i < last; ++i) {
      const EventId id = index.links.tree.order[i];
      while (!open.empty() && open.back().end <= trace.ts_ns[id]) {
        advance(open.back().end);
        open.pop_back();
      }
      advance(trace.ts_ns[id]);
      uint8_t& known = passes_on[trace.name[id]];
      if (known == 2) {
        const auto special = inherited(trace.name_of(id));
        known = special ? 1 : 0;
        if (special) of_name[trace.name[id]] = *special;
      }
      Open next{trace.end_ns(id), own_activity(trace, id), false};
      if (!open.empty() && open.back().passes_on) next = {next.end, open.back().activity, true};
      if (known == 1) next = {next.end, of_name[trace.name[id]], true};
      open.push_back(next);
    }
    while (!open.empty()) {
      advance(open.back().end);
      open.pop_back();
    }
  }
}

void HostTimeline::add(trace::LaneId lane, int64_t begin_ns, int64_t end_ns,
                       ActivityTimes& times) const {
  const auto& segments = lanes_[lane];
  auto at = std::lower_bound(segments.begin(), segments.end(), begin_ns,
                             [](const Segment& one, int64_t ns) { return one.end <= ns; });
  int64_t known = 0;
  for (; at != segments.end() && at->begin < end_ns; ++at) {
    const int64_t part = std::min(at->end, end_ns) - std::max(at->begin, begin_ns);
    times[static_cast<size_t>(at->activity)] += part;
    known += part;
  }
  times[static_cast<size_t>(HostActivity::kBetweenOps)] += end_ns - begin_ns - known;
}

}  // namespace epi::analysis
