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
    size_t last = kNone;
    for (size_t i = 0; i < frames.size(); ++i) {
      const size_t parent =
          last == kNone ? kNone : running(frames, last, trace.ts_ns[frames[i].id]);
      link(frames, i, parent);
      last = i;
    }
  }
}

// Ancestors are chosen as in a skew-binary list: as far above as the parent's ancestor is above the
// parent, if its own ancestor is as far again, else the parent.
void PythonFrames::link(std::vector<Frame>& frames, size_t i, size_t parent) const {
  Frame& frame = frames[i];
  frame.end_ns = trace_.end_ns(frame.id);
  if (trace_.name_of(frame.id).starts_with("nn.Module")) frame.module = i;
  if (parent == kNone) return;
  const Frame& above = frames[parent];
  frame.parent = frame.ancestor = parent;
  frame.depth = above.depth + 1;
  frame.end_ns = std::min(frame.end_ns, above.end_ns);
  if (frame.module == kNone) frame.module = above.module;
  if (above.ancestor == kNone) return;
  const Frame& far = frames[above.ancestor];
  if (far.ancestor != kNone && above.depth - far.depth == far.depth - frames[far.ancestor].depth) {
    frame.ancestor = far.ancestor;
  }
}

size_t PythonFrames::running(const std::vector<Frame>& frames, size_t i, int64_t ns) {
  while (i != kNone && frames[i].end_ns <= ns) {
    const size_t far = frames[i].ancestor;
    i = far != kNone && frames[far].end_ns <= ns ? far : frames[i].parent;
  }
  return i;
}

PythonFrames::Running PythonFrames::at(trace::LaneId lane, int64_t ns) const {
  const std::vector<Frame>& frames = lanes_[lane];
  const auto after = std::upper_bound(
      frames.begin(), frames.end(), ns,
      [&](int64_t when, const Frame& frame) { return when < trace_.ts_ns[frame.id]; });
  if (after == frames.begin()) return {};
  const size_t i = running(frames, static_cast<size_t>(after - frames.begin()) - 1, ns);
  if (i == kNone) return {};
  const size_t module = frames[i].module;
  return {frames[i].id, module == kNone ? trace::kNoEvent : frames[module].id};
}

}  // namespace epi::analysis
