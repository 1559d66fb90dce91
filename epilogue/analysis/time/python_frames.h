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
  static constexpr size_t kNoParent = SIZE_MAX;
  struct Frame {
    trace::EventId id;
    size_t parent = kNoParent;  // in the same lane
  };
  const trace::Trace& trace_;
  std::vector<std::vector<Frame>> lanes_;  // by start, longer first
};

}  // namespace epi::analysis
