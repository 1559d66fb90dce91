// SPDX-License-Identifier: Apache-2.0
// Parses the events of a text in windows on all cores, and joins them into one trace.
#pragma once

#include <cstddef>

#include "epilogue/trace/input_text.h"
#include "epilogue/trace/read_progress.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

struct ParsedEvents {
  Trace trace;              // columns, names, lanes and defects
  size_t end = 0;           // position in the text after the list
  bool list_ended = false;  // the closing bracket was found
};

// 512 KiB: the window, its copy and simdjson's index of it fit into a core's L2 cache.
inline constexpr size_t kWindowBytes = size_t{512} << 10;
// Parses the list that starts at `offset` in the text, after its opening bracket. A compressed text
// is decompressed meanwhile. A plain file is read through its file descriptor, so that the pages of
// its mapping are touched only to handle defects. The result is empty if the progress is cancelled.
ParsedEvents parse_in_windows(const InputText& input, size_t offset = 0,
                              ReadProgress* progress = nullptr, size_t window_bytes = kWindowBytes);

}  // namespace epi::trace
