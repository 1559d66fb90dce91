// SPDX-License-Identifier: Apache-2.0
// Turns the texts of one event into a row of a trace. Both parsers of files hand their events to
// it, so that what an event means is written down once.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/trace/defects.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

// One event as a parser found it: pieces of the file's text, empty where it has none. Strings are
// without their quotes and with their escapes; tokens are numbers, or strings with their quotes.
struct RawEvent {
  std::string_view phase;
  std::string_view category;
  std::string_view name;
  std::string_view pid;   // token
  std::string_view tid;   // token
  std::string_view ts;    // token
  std::string_view dur;   // token
  std::string_view id;    // token
  std::string_view args;  // the object, braces included
};

// One of the texts of a RawEvent.
using RawField = std::string_view RawEvent::*;
// Those that are strings, not tokens.
inline bool holds_string(RawField place) {
  return place == &RawEvent::phase || place == &RawEvent::category || place == &RawEvent::name;
}

class EventBuilder {
 public:
  // What is added goes into `trace`; defects are counted in it.
  explicit EventBuilder(Trace& trace) : trace_(trace) {}

  // `args_offset` is where the event's args object stands in the trace's text.
  void add(const RawEvent& raw, uint64_t args_offset);

  Defects& defects() { return trace_.defects; }

 private:
  bool set_times(const RawEvent& raw, Event& event);
  void set_ids(const RawEvent& raw, Event& event) const;
  NameId name_id(std::string_view raw_name);
  LaneId lane_id(std::string_view pid, std::string_view tid);
  Category category_id(std::string_view text);

  Trace& trace_;
  // The lane and category of the event before: most often this one's, too.
  std::string last_pid_;
  std::string last_tid_;
  LaneId last_lane_ = 0;
  std::string last_category_text_;
  Category last_category_ = Category::kNone;
  std::string unescaped_;
};

}  // namespace epi::trace
