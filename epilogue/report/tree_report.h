// SPDX-License-Identifier: Apache-2.0
// One stretch of a trace as a tree: operators and annotations with their times, the calls that
// launched something, and the device work that each launch started. What launches nothing shows a
// dash where the others have their device time.
#pragma once

#include <string>

#include "epilogue/base/json_writer.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

struct TreeOptions {
  int64_t begin_ns = 0;  // events that begin in [begin, end) are shown
  int64_t end_ns = 0;
  trace::EventId root = trace::kNoEvent;  // only what is under it; none: every thread
  size_t depth = SIZE_MAX;                // levels below the root
  size_t width = 80;
};

std::string tree_text(const trace::Trace& trace, const trace::Links& links,
                      const TreeOptions& options);
// The member `tree`: nodes {"name", "category", "cpu_us", "self_us", "gpu_us", "children"}.
void tree_json(JsonWriter& json, const trace::Trace& trace, const trace::Links& links,
               const TreeOptions& options);

}  // namespace epi::report
