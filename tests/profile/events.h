// SPDX-License-Identifier: Apache-2.0
// Selects events of a trace by category.
#pragma once

#include <string>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::profile {

inline std::vector<trace::EventId> events_of(const trace::Trace& trace, trace::Category category) {
  std::vector<trace::EventId> ids;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] == category) ids.push_back(id);
  }
  return ids;
}

inline std::vector<std::string> names_of(const trace::Trace& trace, trace::Category category) {
  std::vector<std::string> names;
  for (const trace::EventId id : events_of(trace, category)) names.emplace_back(trace.name_of(id));
  return names;
}

}  // namespace epi::profile
