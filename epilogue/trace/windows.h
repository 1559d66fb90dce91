// SPDX-License-Identifier: Apache-2.0
// The events of a text, parsed window by window on all cores into one trace.
#pragma once

#include <string_view>

#include "epilogue/trace/trace.h"

namespace epi::trace {

struct ParsedEvents {
  Trace trace;              // columns, names, lanes and defects
  size_t end = 0;           // of the text: behind the list of events
  bool list_ended = false;  // by its bracket
};

// The events to parse. With a descriptor of the file they are read from there, so that the pages of
// a mapped text are touched only where something is wrong.
struct EventsText {
  std::string_view text;  // begins behind the bracket that opens the list
  uint64_t offset = 0;    // of the text in the file
  int fd = -1;
};

// Half of a megabyte: the window, its copy and simdjson's index of it stay in a core's second
// cache.
inline constexpr size_t kWindowBytes = size_t{512} << 10;
ParsedEvents parse_in_windows(const EventsText& events, size_t window_bytes = kWindowBytes);

}  // namespace epi::trace
