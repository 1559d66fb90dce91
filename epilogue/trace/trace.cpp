// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/trace.h"

#include <algorithm>

namespace epi::trace {

NameId Names::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

void Trace::reserve(size_t events) {
  phase.reserve(events);
  category.reserve(events);
  name.reserve(events);
  lane.reserve(events);
  ts_ns.reserve(events);
  dur_ns.reserve(events);
  external_id.reserve(events);
  correlation.reserve(events);
  args.reserve(events);
}

EventId Trace::push(const Event& event) {
  phase.push_back(event.phase);
  category.push_back(event.category);
  name.push_back(event.name);
  lane.push_back(event.lane);
  ts_ns.push_back(event.ts_ns);
  dur_ns.push_back(event.dur_ns);
  external_id.push_back(event.external_id);
  correlation.push_back(event.correlation);
  args.push_back(event.args);
  return size() - 1;
}

Event Trace::event(EventId id) const {
  return {phase[id],  category[id],    name[id],        lane[id], ts_ns[id],
          dur_ns[id], external_id[id], correlation[id], args[id]};
}

LaneId Trace::find_or_add_lane(const Lane& wanted) {
  const auto found = std::find(lanes.begin(), lanes.end(), wanted);
  if (found != lanes.end()) return static_cast<LaneId>(found - lanes.begin());
  lanes.push_back(wanted);
  return static_cast<LaneId>(lanes.size() - 1);
}

std::string_view Trace::property(std::string_view key) const {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  return found == properties.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace epi::trace
