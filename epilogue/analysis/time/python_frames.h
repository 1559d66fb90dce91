// SPDX-License-Identifier: Apache-2.0
// The Python functions of each thread, if their stacks are recorded: which one ran at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

class PythonFrames {
 public:
  explicit PythonFrames(const trace::Trace& trace);

  struct Running {
    trace::EventId function = trace::kNoEvent;  // the innermost
    trace::EventId module = trace::kNoEvent;    // the innermost nn.Module
  };
  Running at(trace::LaneId lane, int64_t ns) const;

 private:
  static constexpr size_t kNone = SIZE_MAX;
  // Numbers are places in the same lane.
  struct Frame {
    trace::EventId id;
    int64_t end_ns = 0;       // at most its parent's
    size_t parent = kNone;    // the frame that contains it
    size_t ancestor = kNone;  // a far one, so that a search takes logarithmic time
    size_t depth = 0;
    size_t module = kNone;  // the innermost nn.Module, which may be the frame itself
  };
  void link(std::vector<Frame>& frames, size_t i, size_t parent) const;
  // The frame or its innermost ancestor that has not ended.
  static size_t running(const std::vector<Frame>& frames, size_t i, int64_t ns);

  const trace::Trace& trace_;
  std::vector<std::vector<Frame>> lanes_;  // by start, longer first
};

}  // namespace epi::analysis
