// SPDX-License-Identifier: Apache-2.0
// A time range of a trace as a tree: operators, annotations and runtime calls with their times, and
// the kernels and copies that each call launched. The device time of an event that launches nothing
// is shown as a dash.
#pragma once

#include <optional>
#include <string>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

struct TreeOptions {
  int64_t begin_ns = 0;  // events that start in [begin, end) are shown
  int64_t end_ns = 0;
  trace::EventId root = trace::kNoEvent;  // shows only this event and its children, if set
  trace::EventId step = trace::kNoEvent;  // its thread is the main one, if set
  size_t depth = SIZE_MAX;                // levels below the root
  size_t width = 80;
  bool cpu_kernels = false;          // the kernels ran on the CPU backend
  bool full = false;                 // never folds, even with more than `kMaxTreeLines` lines
  std::optional<NameStyle> names{};  // of kernels; by default, only names too long are decoded
};

// Longer trees are folded to at most this many lines: three screens of a large terminal.
inline constexpr size_t kMaxTreeLines = 200;

std::string tree_text(const trace::Trace& trace, const trace::Links& links,
                      const TreeOptions& options);
// Writes the member `tree`, which is never folded. Its nodes are {"name", "category", "cpu_us",
// "self_us", "gpu_us", "children"}.
void tree_json(JsonWriter& json, const trace::Trace& trace, const trace::Links& links,
               const TreeOptions& options);

}  // namespace epi::report
