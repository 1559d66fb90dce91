// SPDX-License-Identifier: Apache-2.0
// Looks events up by an integer key that they carry, such as a correlation id. Uses an array if the
// keys are dense, as a profiler's are, and otherwise a hash table with linear probing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

class IdIndex {
 public:
  // For keys from `min_key` to `max_key`, of which at most `count` are used.
  IdIndex(int64_t min_key, int64_t max_key, size_t count) : min_key_(min_key) {
    if (max_key < min_key) return;
    const auto span = static_cast<uint64_t>(max_key) - static_cast<uint64_t>(min_key);
    if (span < 8 * static_cast<uint64_t>(count) + 1024) {
      dense_.assign(span + 1, kNoEvent);
    } else {
      slots_.resize(std::bit_ceil(2 * count));
      shift_ = 64 - std::countr_zero(slots_.size());
    }
  }

  // If several events have the same key, the first one is kept.
  void add(int64_t key, EventId id) {
    if (dense_.empty()) {
      Slot& slot = slots_[place_of(key)];
      if (slot.event == kNoEvent) slot = {key, id};
      return;
    }
    EventId& event = dense_[static_cast<size_t>(key - min_key_)];
    if (event == kNoEvent) event = id;
  }

  EventId find(int64_t key) const {
    if (!slots_.empty()) return slots_[place_of(key)].event;
    const auto place = static_cast<uint64_t>(key) - static_cast<uint64_t>(min_key_);
    return key < min_key_ || place >= dense_.size() ? kNoEvent : dense_[place];
  }

 private:
  struct Slot {
    int64_t key = 0;
    EventId event = kNoEvent;
  };

  // Random and odd: whatever the keys are, two of them rarely start at the same slot.
  static uint64_t multiplier() {
    static const uint64_t value =
        (uint64_t{std::random_device()()} << 32 | std::random_device()()) | 1;
    return value;
  }

  // The slot with this key, or the empty one where it belongs. At least half of them are empty.
  size_t place_of(int64_t key) const {
    size_t place = (static_cast<uint64_t>(key) * multiplier()) >> shift_;
    while (slots_[place].event != kNoEvent && slots_[place].key != key) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return place;
  }

  int64_t min_key_;
  std::vector<EventId> dense_;
  std::vector<Slot> slots_;  // of the hash table: a power of two, at least two
  int shift_ = 0;            // leaves the upper bits that number a slot
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
