// SPDX-License-Identifier: Apache-2.0
// Reads what is almost JSON: raw control bytes, quotes inside of strings, stray commas, bare words,
// text that ends in the middle. What it cannot make sense of it leaves out and counts. On JSON it
// finds what simdjson finds, only slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/trace/event_builder.h"

namespace epi::trace {

// Where the next event may begin at or after `from`: a brace behind a comma or a bracket, with a
// key of events behind it. The text's size where there is none.
size_t find_event_start(std::string_view text, size_t from);

// Reads events from the start of `text`, which stands at `offset` of the file, to the end of their
// list or of the text, or to the first that begins at `stop_at` or behind it.
struct EventsEnd {
  size_t position = 0;      // behind what was read
  bool list_ended = false;  // the closing bracket was there
  bool whole = false;       // no event was broken or cut
};
EventsEnd parse_events_tolerantly(std::string_view text, uint64_t offset, EventBuilder& builder,
                                  size_t stop_at = SIZE_MAX);

// The members of the object around the events, in order, as key and JSON text.
using Properties = std::vector<std::pair<std::string, std::string>>;

// Reads the file's beginning up to its events. `events_begin` is npos where it has none.
struct Head {
  Properties properties;
  size_t events_begin = std::string_view::npos;
  bool is_json = false;   // it begins with a brace or a bracket
  bool complete = false;  // the object ended, without events
};
Head parse_head(std::string_view text);
// Reads what follows the list of events; what follows the object is counted as a defect.
Properties parse_tail(std::string_view text, Defects& defects);

}  // namespace epi::trace
