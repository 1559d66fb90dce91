// SPDX-License-Identifier: Apache-2.0
// Looks events up by an integer key that they carry, such as a correlation id. Uses an array if the
// keys are dense, as a profiler's are, and a hash table otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

class IdIndex {
 public:
  // For keys from `min_key` to `max_key`, of which about `count` are used.
  IdIndex(int64_t min_key, int64_t max_key, size_t count) : min_key_(min_key) {
    if (max_key < min_key) return;
    const auto span = static_cast<uint64_t>(max_key) - static_cast<uint64_t>(min_key);
    if (span < 8 * static_cast<uint64_t>(count) + 1024) {
      dense_.assign(span + 1, kNoEvent);
    }
  }

  // If several events have the same key, the first one is kept.
  void add(int64_t key, EventId id) {
    if (dense_.empty()) {
      sparse_.emplace(key, id);
      return;
    }
    EventId& slot = dense_[static_cast<size_t>(key - min_key_)];
    if (slot == kNoEvent) slot = id;
  }

  EventId find(int64_t key) const {
    if (dense_.empty()) {
      const auto found = sparse_.find(key);
      return found == sparse_.end() ? kNoEvent : found->second;
    }
    const auto slot = static_cast<uint64_t>(key) - static_cast<uint64_t>(min_key_);
    return key < min_key_ || slot >= dense_.size() ? kNoEvent : dense_[slot];
  }

 private:
  int64_t min_key_;
  std::vector<EventId> dense_;
  std::unordered_map<int64_t, EventId> sparse_;
};

// Indexes the events for which `predicate` is true. `keys` has one key per event, and 0 means that
// the event has none.
template <typename Predicate>
IdIndex index_events(const std::vector<int64_t>& keys, Predicate&& predicate) {
  int64_t min_key = INT64_MAX;
  int64_t max_key = INT64_MIN;
  size_t count = 0;
  for (EventId id = 0; id < keys.size(); ++id) {
    if (keys[id] == 0 || !predicate(id)) continue;
    min_key = std::min(min_key, keys[id]);
    max_key = std::max(max_key, keys[id]);
    ++count;
  }
  IdIndex index(min_key, max_key, count);
  for (EventId id = 0; id < keys.size(); ++id) {
    if (keys[id] != 0 && predicate(id)) index.add(keys[id], id);
  }
  return index;
}

}  // namespace epi::trace
