// SPDX-License-Identifier: Apache-2.0
// What a page draws: the spans of each thread and stream. Of large traces the longest are kept, and
// the rest is summed up in slices of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/work.h"

namespace epi::analysis {

struct TimelineLane {
  std::string name;  // "thread 1234", "GPU 0 stream 7"
  bool is_device = false;
  std::vector<trace::EventId> events;  // kept, by begin, the longer first
  std::vector<double> rest;  // share of each slice that events not kept cover; may be empty
  int64_t left_out = 0;
};

struct Timeline {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<TimelineLane> lanes;  // the CPU's first, then devices', then Python's
  int64_t left_out = 0;
};

// At most `most` events are kept.
Timeline make_timeline(const Examined& examined, size_t most);

}  // namespace epi::analysis
