// SPDX-License-Identifier: Apache-2.0
// Events by a number that they carry: an array where the numbers lie close together, as a
// profiler's do, and a hash table where they do not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

class IdIndex {
 public:
  // For numbers from `least` to `most`, of which about `count` are used.
  IdIndex(int64_t least, int64_t most, size_t count) : least_(least) {
    if (most < least) return;
    const auto span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    if (span < 8 * static_cast<uint64_t>(count) + 1024) {
      dense_.assign(span + 1, kNoEvent);
    }
  }

  // The first one with a number stays.
  void add(int64_t number, EventId id) {
    if (dense_.empty()) {
      sparse_.emplace(number, id);
      return;
    }
    EventId& place = dense_[static_cast<size_t>(number - least_)];
    if (place == kNoEvent) place = id;
  }

  EventId find(int64_t number) const {
    if (dense_.empty()) {
      const auto found = sparse_.find(number);
      return found == sparse_.end() ? kNoEvent : found->second;
    }
    const auto place = static_cast<uint64_t>(number) - static_cast<uint64_t>(least_);
    return number < least_ || place >= dense_.size() ? kNoEvent : dense_[place];
  }

 private:
  int64_t least_;
  std::vector<EventId> dense_;
  std::unordered_map<int64_t, EventId> sparse_;
};

// The numbers of those events that `wanted` holds for; 0 is none.
template <typename Wanted>
IdIndex index_events(const std::vector<int64_t>& numbers, Wanted&& wanted) {
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  size_t count = 0;
  for (EventId id = 0; id < numbers.size(); ++id) {
    if (numbers[id] == 0 || !wanted(id)) continue;
    least = std::min(least, numbers[id]);
    most = std::max(most, numbers[id]);
    ++count;
  }
  IdIndex index(least, most, count);
  for (EventId id = 0; id < numbers.size(); ++id) {
    if (numbers[id] != 0 && wanted(id)) index.add(numbers[id], id);
  }
  return index;
}

}  // namespace epi::trace
