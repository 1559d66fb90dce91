// SPDX-License-Identifier: Apache-2.0
// The timeline of the page as JSON: columns of numbers. Strings are stored once, in a table of
// their own.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/analysis/time/timeline.h"

namespace epi::report {

// Numbers the events that a timeline draws individually, one lane after the other.
class EventPlaces {
 public:
  explicit EventPlaces(const analysis::Timeline& timeline);
  // -1 if the event is not drawn individually.
  int64_t of(trace::EventId id) const;
  // Times of the page count from here.
  int64_t begin_ns() const { return begin_ns_; }

 private:
  int64_t begin_ns_;
  std::unordered_map<trace::EventId, int64_t> places_;
};

// The idle time of a device on the page.
struct PageDevice {
  int64_t device = 0;
  analysis::Interval window;
  std::vector<analysis::IdleGap> gaps;
};

// Includes the critical path if there is a diagnosis, and the longest idle intervals.
std::string timeline_json(const analysis::TraceIndex& index, const analysis::Timeline& timeline,
                          const EventPlaces& places, const analysis::StepGroup& steps,
                          const std::vector<PageDevice>& devices,
                          const std::optional<analysis::Diagnosis>& diagnosis);

}  // namespace epi::report
