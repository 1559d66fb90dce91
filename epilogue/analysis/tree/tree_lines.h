// SPDX-License-Identifier: Apache-2.0
// The lines of a printed tree. If there are too many, repeated events are folded into one line with
// the sum of their times, and only the lines with the most time are shown.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/tree/forest.h"

namespace epi::analysis {

struct TreeLine {
  std::string name;
  int64_t count = 1;  // number of events whose times are added up
  int64_t cpu_ns = 0;
  int64_t self_ns = 0;
  int64_t device_ns = 0;
  // The first and the slowest of the events, by GPU time or, if none launched work, by CPU time.
  trace::EventId first = trace::kNoEvent;
  trace::EventId slowest = trace::kNoEvent;
  int64_t least_ns = 0;
  int64_t most_ns = 0;
  bool device = false;
  bool launched = false;
  bool is_thread = false;
  bool is_sequence = false;  // a repeated sequence of siblings, not an event
  bool shown = true;
  size_t depth = 0;
  size_t parent = SIZE_MAX;
  size_t place = 0;  // index among its siblings
  std::vector<size_t> children{};
};

class TreeLines {
 public:
  // Returns the index of the line. A parent of SIZE_MAX makes it a root.
  size_t add(TreeLine line, size_t parent);
  // Hides the lines with the least time, so that at most `max_lines` are printed. A run of hidden
  // siblings counts as one line, and a device event as `per_kernel` lines.
  void limit(size_t max_lines, size_t per_kernel);

  const std::vector<TreeLine>& lines() const { return lines_; }
  const std::vector<size_t>& roots() const { return roots_; }
  struct Below {
    size_t lines = 0;
    bool has_occupancy = false;  // one of them is an occupancy query
  };
  // The lines below a line.
  Below below(size_t line) const;

 private:
  const std::vector<size_t>& siblings(const TreeLine& line) const;

  std::vector<TreeLine> lines_;
  std::vector<size_t> roots_;
};

TreeLine thread_line(const trace::Trace& trace, const Forest& forest, const TreeThread& thread);

// One line per event, and one per thread if there are several threads.
TreeLines full_lines(const TraceIndex& index, const Forest& forest, const TreeRange& range);
// Folds repeated siblings, and repeated sequences of siblings such as the layers of a model, into
// one line. Two operators are the same if their names differ only in digits and the operators below
// them are the same. Their calls and kernels may differ.
TreeLines folded_lines(const TraceIndex& index, const Forest& forest, const TreeRange& range);

}  // namespace epi::analysis
