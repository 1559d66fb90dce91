// SPDX-License-Identifier: Apache-2.0
// One stretch of a trace as a tree: operators, annotations and runtime calls with their times, and
// the device work that each launch started. What launches nothing shows a dash where the others
// have their device time.
#pragma once

#include <optional>
#include <string>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

struct TreeOptions {
  int64_t begin_ns = 0;  // events that begin in [begin, end) are shown
  int64_t end_ns = 0;
  trace::EventId root = trace::kNoEvent;  // only what is under it; none: every thread
  trace::EventId step = trace::kNoEvent;  // whose thread is the main one; none: no event marks it
  size_t depth = SIZE_MAX;                // levels below the root
  size_t width = 80;
  bool cpu_kernels = false;          // of Epilogue's CPU backend, instead of a GPU's
  bool full = false;                 // every line, also where there are more than `kMaxTreeLines`
  std::optional<NameStyle> names{};  // of kernels; none: the name, or what it says where it is long
};

// A longer tree is folded to at most so many lines: three screens of a large terminal.
inline constexpr size_t kMaxTreeLines = 200;

std::string tree_text(const trace::Trace& trace, const trace::Links& links,
                      const TreeOptions& options);
// The member `tree`, never folded: nodes {"name", "category", "cpu_us", "self_us", "gpu_us",
// "children"}.
void tree_json(JsonWriter& json, const trace::Trace& trace, const trace::Links& links,
               const TreeOptions& options);

}  // namespace epi::report
