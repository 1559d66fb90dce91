// SPDX-License-Identifier: Apache-2.0
// Parses the events of a text in windows on all cores, and joins them into one trace.
#pragma once

#include <string_view>

#include "epilogue/trace/read_progress.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

struct ParsedEvents {
  Trace trace;              // columns, names, lanes and defects
  size_t end = 0;           // position in the text after the event list
  bool list_ended = false;  // the closing bracket was found
};

// The text to parse. If a file descriptor is given, the text is read through it, so that the pages
// of the mapped text are touched only to handle defects.
struct EventsText {
  std::string_view text;  // starts after the bracket that opens the list
  uint64_t offset = 0;    // of the text in the file
  int fd = -1;
  ReadProgress* progress = nullptr;
};

// 512 KiB: the window, its copy and simdjson's index of it fit into a core's L2 cache.
inline constexpr size_t kWindowBytes = size_t{512} << 10;
// The result is empty if the progress is cancelled.
ParsedEvents parse_in_windows(const EventsText& events, size_t window_bytes = kWindowBytes);

}  // namespace epi::trace
