// SPDX-License-Identifier: Apache-2.0
// Converts the raw fields of one event into a row of a trace. Both parsers pass their events to it,
// so that the meaning of an event is defined in one place.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/trace/defects.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

// One event as a parser found it: slices of the file's text, empty for missing fields. Strings are
// without quotes and still escaped. Tokens are numbers, or strings with quotes.
struct RawEvent {
  std::string_view phase;
  std::string_view category;
  std::string_view name;
  std::string_view pid;   // token
  std::string_view tid;   // token
  std::string_view ts;    // token
  std::string_view dur;   // token
  std::string_view id;    // token
  std::string_view args;  // the object, including its braces
};

// A field of RawEvent.
using RawField = std::string_view RawEvent::*;
// Whether the field holds a string, not a token.
inline bool is_string_field(RawField field) {
  return field == &RawEvent::phase || field == &RawEvent::category || field == &RawEvent::name;
}

class EventBuilder {
 public:
  // Adds events to `trace` and counts their defects there.
  explicit EventBuilder(Trace& trace) : trace_(trace) {}

  // `args_offset` is the offset of the event's args object in the trace's text.
  void add(const RawEvent& raw, uint64_t args_offset);

  Defects& defects() { return trace_.defects; }

 private:
  bool set_times(const RawEvent& raw, Event& event);
  void set_ids(const RawEvent& raw, Event& event) const;
  NameId name_id(std::string_view raw_name);
  NameId long_name_id(std::string_view raw_name);
  LaneId lane_id(std::string_view pid, std::string_view tid);
  Category category_id(std::string_view text);

  Trace& trace_;
  // The lane and category of the previous event, which usually match the next one's.
  std::string last_pid_;
  std::string last_tid_;
  LaneId last_lane_ = 0;
  std::string last_category_text_;
  Category last_category_ = Category::kNone;
  std::string unescaped_;
};

}  // namespace epi::trace
