// SPDX-License-Identifier: Apache-2.0
// Parses text that is almost JSON: raw control bytes, quotes inside strings, stray commas, bare
// words, truncated text. Skips and counts anything that it cannot interpret. On valid JSON it finds
// the same events as simdjson, only slower.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/trace/event_builder.h"

namespace epi::trace {

// The position at or after `from` where the next event may start: a brace that follows a comma or a
// bracket, and that is followed by a key of an event. The text's size if there is none.
size_t find_event_start(std::string_view text, size_t from);

// How many bytes may be parsed again. After a malformed event, parsing continues at the next event
// start inside of it. If that goes on over the same text, the budget is used up, and parsing
// continues after the malformed event instead, so that the time stays linear.
struct RescanBudget {
  // Damaged files use a small part of it: a malformed event is noticed at the next one.
  explicit RescanBudget(size_t text_bytes) : bytes(8 * text_bytes) {}
  bool take(size_t count) {
    const bool enough = count <= bytes;
    bytes -= std::min(count, bytes);
    return enough;
  }
  size_t bytes;
};

// Parses events from the start of `text`, which is at `offset` in the file. Stops at the end of the
// list, at the end of the text, or at the first event that starts at or after `stop_at`.
struct EventsEnd {
  size_t position = 0;      // end of the parsed text
  bool list_ended = false;  // the closing bracket was found
  bool whole = false;       // no event was malformed or truncated
};
EventsEnd parse_events_tolerantly(std::string_view text, uint64_t offset, EventBuilder& builder,
                                  RescanBudget& budget, size_t stop_at = SIZE_MAX);

// The members of the object around the event list, in order, as key and JSON text.
using Properties = std::vector<std::pair<std::string, std::string>>;

// Parses the file up to its event list. `events_begin` is npos if there is no list.
struct Head {
  Properties properties;
  size_t events_begin = std::string_view::npos;
  bool is_json = false;   // the text starts with a brace or a bracket
  bool complete = false;  // the object ended without an event list
  size_t examined = 0;    // the end of the text that was looked at
  // A bracket of a property that is nested too deeply. npos if there is none.
  size_t too_deep_at = std::string_view::npos;
};
Head parse_head(std::string_view text);
// Parses the text after the event list. Text after the enclosing object is counted as a defect.
Properties parse_tail(std::string_view text, Defects& defects);

}  // namespace epi::trace
