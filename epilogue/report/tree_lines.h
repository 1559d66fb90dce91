// SPDX-License-Identifier: Apache-2.0
// A forest as the lines of a screen. Where it is too long for one, events that repeat are folded
// into one line with their times added up, and of what is left the costliest is shown.
#pragma once

#include <string>
#include <vector>

#include "epilogue/report/tree_forest.h"

namespace epi::report {

struct TreeLine {
  std::string name;
  int64_t count = 1;  // events whose times are added up here
  int64_t cpu_ns = 0;
  int64_t self_ns = 0;
  int64_t device_ns = 0;
  bool device = false;
  bool launched = false;
  bool is_thread = false;
  bool is_sequence = false;  // of siblings that repeat: no event itself
  bool shown = true;
  size_t depth = 0;
  size_t parent = SIZE_MAX;
  size_t place = 0;  // among its siblings
  std::vector<size_t> children{};
};

class TreeLines {
 public:
  // Returns its place. A parent of SIZE_MAX makes it a root.
  size_t add(TreeLine line, size_t parent);
  // Hides the lines of least time until at most `most` are left, counting those that stand for
  // hidden siblings, and `per_kernel` for each device event.
  void limit(size_t most, size_t per_kernel);

  const std::vector<TreeLine>& lines() const { return lines_; }
  const std::vector<size_t>& roots() const { return roots_; }
  struct Below {
    size_t lines = 0;
    bool has_occupancy = false;  // one of them asks for the occupancy of a kernel
  };
  Below below(size_t line) const;

 private:
  const std::vector<size_t>& siblings(const TreeLine& line) const;

  std::vector<TreeLine> lines_;
  std::vector<size_t> roots_;
};

TreeLine thread_line(const trace::Trace& trace, const Forest& forest, const TreeThread& thread);

// One line for each event, and one for each thread where there are several.
TreeLines full_lines(const trace::Trace& trace, const trace::Links& links, const Forest& forest,
                     const TreeOptions& options);
// Siblings that repeat, alone or as a sequence (the layers of a model), are one line: the same
// operators below, whatever their calls and kernels, and names that differ in digits only.
TreeLines folded_lines(const trace::Trace& trace, const trace::Links& links, const Forest& forest,
                       const TreeOptions& options);

}  // namespace epi::report
