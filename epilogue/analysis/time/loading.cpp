// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/loading.h"

#include <algorithm>
#include <unordered_map>

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The loader's internals, and calls into C.
bool is_loader_internal(std::string_view frame) {
  return contains(frame, "torch/utils/data") || frame.starts_with("<built-in");
}

// Frames of one function inside fetches.
struct FrameTimes {
  int64_t ns = 0;
  Intervals when;
  Interval longest;
};

bool is_inside(const Interval& one, const Intervals& others) {
  return std::any_of(others.begin(), others.end(), [&](const Interval& other) {
    return other.begin <= one.begin && one.end <= other.end && other != one;
  });
}

// Finds the function that takes at least half of the fetch time and calls no other function that
// does.
void find_function(const trace::Trace& trace, const Intervals& fetches, Loading& loading) {
  std::unordered_map<trace::NameId, FrameTimes> frames;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || trace.category[id] != Category::kPythonFunction) continue;
    if (is_loader_internal(trace.name_of(id))) continue;
    const Interval when{trace.ts_ns[id], trace.end_ns(id)};
    // A frame around a fetch is not part of it.
    if (length(clipped(fetches, when.begin, when.end)) != trace.dur_ns[id]) continue;
    FrameTimes& one = frames[trace.name[id]];
    one.ns += trace.dur_ns[id];
    one.when.push_back(when);
    if (when.end - when.begin > one.longest.end - one.longest.begin) one.longest = when;
  }
  std::erase_if(frames, [&](const auto& frame) {
    return frame.second.ns * 2 < loading.ns || frame.second.ns > loading.ns;
  });
  for (const auto& [name, frame] : frames) {
    const bool is_outer = std::any_of(frames.begin(), frames.end(), [&](const auto& other) {
      return other.first != name && is_inside(other.second.longest, frame.when);
    });
    if (is_outer || frame.ns <= loading.function_ns) continue;
    loading.function_ns = frame.ns;
    loading.function = trace.names[name];
  }
}

}  // namespace

Loading loading_in(const TraceIndex& index, const Interval& window) {
  const trace::Trace& trace = index.trace;
  Loading loading;
  Intervals fetches;
  for (const EventId id : index.links.tree.order) {
    const bool fetch = contains(trace.name_of(id), "DataLoader") &&
                       trace.ts_ns[id] >= window.begin && trace.ts_ns[id] < window.end;
    if (!fetch || is_inside({trace.ts_ns[id], trace.end_ns(id)}, fetches)) continue;
    loading.loader = trace.name_of(id);
    fetches.push_back({trace.ts_ns[id], trace.end_ns(id)});
  }
  int64_t longest = 0;
  for (const Interval& fetch : fetches) longest = std::max(longest, fetch.end - fetch.begin);
  // The last call of an epoch fetches nothing.
  loading.fetches = std::count_if(fetches.begin(), fetches.end(), [&](const Interval& fetch) {
    return (fetch.end - fetch.begin) * 100 >= longest;
  });
  fetches = merged(std::move(fetches));
  loading.ns = length(fetches);
  if (!fetches.empty()) find_function(trace, fetches, loading);
  return loading;
}

}  // namespace epi::analysis
