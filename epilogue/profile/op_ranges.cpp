// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/op_ranges.h"

#include <algorithm>

namespace epi::profile {

using trace::EventId;
using trace::kNoEvent;

void OpRanges::add(int64_t tid, EventId range, EventId parent) {
  ranges_[tid].push_back(range);
  if (parents_.size() <= range) parents_.resize(range + 1, kNoEvent);
  parents_[range] = parent;
}

void OpRanges::add_step(int64_t tid, EventId step) {
  steps_[tid].push_back(step);
  if (parents_.size() <= step) parents_.resize(step + 1, kNoEvent);
  parents_[step] = step;
}

bool OpRanges::is_step(EventId range) const {
  return range < parents_.size() && parents_[range] == range;
}

EventId OpRanges::parent_of(EventId range) const {
  return range < parents_.size() && !is_step(range) ? parents_[range] : kNoEvent;
}

// The range that started last before the call either contains it or is a preceding sibling. In the
// latter case one of its ancestors contains the call.
EventId OpRanges::find(int64_t tid, int64_t begin_ns, int64_t end_ns) const {
  const auto thread = ranges_.find(tid);
  if (thread == ranges_.end()) return step_around(tid, begin_ns, end_ns);
  const auto after =
      std::upper_bound(thread->second.begin(), thread->second.end(), begin_ns,
                       [&](int64_t ns, EventId range) { return ns < trace_.ts_ns[range]; });
  if (after == thread->second.begin()) return step_around(tid, begin_ns, end_ns);
  EventId range = *std::prev(after);
  while (range != kNoEvent && trace_.end_ns(range) < end_ns) range = parents_[range];
  return range != kNoEvent ? range : step_around(tid, begin_ns, end_ns);
}

EventId OpRanges::step_around(int64_t tid, int64_t begin_ns, int64_t end_ns) const {
  const auto thread = steps_.find(tid);
  if (thread == steps_.end()) return kNoEvent;
  for (const EventId step : thread->second) {
    if (trace_.ts_ns[step] <= begin_ns && end_ns <= trace_.end_ns(step)) return step;
  }
  return kNoEvent;
}

}  // namespace epi::profile
