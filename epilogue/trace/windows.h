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

// `text` begins behind the bracket that opens the list, at `offset` of the file. With
// `drop_pages` the pages of the text are given back as they are parsed: it must be a mapped file.
// Half of a megabyte: the window, its copy and simdjson's index of it stay in a core's second
// cache.
inline constexpr size_t kWindowBytes = size_t{512} << 10;
ParsedEvents parse_in_windows(std::string_view text, uint64_t offset, bool drop_pages,
                              size_t window_bytes = kWindowBytes);

}  // namespace epi::trace
