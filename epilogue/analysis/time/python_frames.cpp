// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/python_frames.h"

#include <algorithm>
#include <tuple>

namespace epi::analysis {

PythonFrames::PythonFrames(const trace::Trace& trace) : trace_(trace), lanes_(trace.lanes.size()) {
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    const bool is_frame = trace.category[id] == trace::Category::kPythonFunction;
    if (is_frame && trace.is_span(id)) lanes_[trace.lane[id]].push_back({id});
  }
  for (std::vector<Frame>& frames : lanes_) {
    std::stable_sort(frames.begin(), frames.end(), [&](const Frame& a, const Frame& b) {
      return std::tuple(trace.ts_ns[a.id], -trace.dur_ns[a.id]) <
             std::tuple(trace.ts_ns[b.id], -trace.dur_ns[b.id]);
    });
    std::vector<size_t> open;
    for (size_t i = 0; i < frames.size(); ++i) {
      while (!open.empty() && trace.end_ns(frames[open.back()].id) <= trace.ts_ns[frames[i].id]) {
        open.pop_back();
      }
      if (!open.empty()) frames[i].parent = open.back();
      open.push_back(i);
    }
  }
}

PythonFrames::Running PythonFrames::at(trace::LaneId lane, int64_t ns) const {
  const std::vector<Frame>& frames = lanes_[lane];
  const auto after = std::upper_bound(
      frames.begin(), frames.end(), ns,
      [&](int64_t when, const Frame& frame) { return when < trace_.ts_ns[frame.id]; });
  Running running;
  if (after == frames.begin()) return running;
  for (size_t i = static_cast<size_t>(after - frames.begin()) - 1; i != kNoParent;
       i = frames[i].parent) {
    const trace::EventId id = frames[i].id;
    if (trace_.end_ns(id) <= ns) continue;
    if (running.function == trace::kNoEvent) running.function = id;
    if (!trace_.name_of(id).starts_with("nn.Module")) continue;
    running.module = id;
    break;
  }
  return running;
}

}  // namespace epi::analysis
