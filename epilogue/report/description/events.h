// SPDX-License-Identifier: Apache-2.0
// Events of a trace in JSON: enough to find them in a trace viewer.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "epilogue/report/description/description.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

struct EventRow {
  std::string_view name;
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
};
template <>
struct Description<EventRow> {
  static constexpr const char* kName = "event";
  static constexpr std::tuple kMembers{
      Member{"name", "event", Unit::kNone, "its name", &EventRow::name},
      Member{"ts_us", "at", Unit::kNanoseconds, "its start in the trace", &EventRow::ts_ns},
      Member{"dur_us", "takes", Unit::kNanoseconds, "its duration", &EventRow::dur_ns}};
};

inline std::vector<EventRow> event_rows(const trace::Trace& trace,
                                        std::span<const trace::EventId> events,
                                        size_t most = SIZE_MAX) {
  std::vector<EventRow> rows;
  for (const trace::EventId id : events.first(std::min(events.size(), most))) {
    rows.push_back({trace.name_of(id), trace.ts_ns[id], trace.dur_ns[id]});
  }
  return rows;
}

}  // namespace epi::report
