// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/id_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace epi::trace {
namespace {

// Compares with a map: each key leads to the first event that has it, other keys to none.
void check(const std::vector<int64_t>& keys) {
  const IdIndex index = index_events(keys, [](EventId) { return true; });
  std::map<int64_t, EventId> expected;
  for (EventId id = 0; id < keys.size(); ++id) {
    if (keys[id] != 0) expected.try_emplace(keys[id], id);
  }
  for (const auto& [key, id] : expected) {
    EXPECT_EQ(index.find(key), id) << key;
    for (const int64_t near : {key - 1, key + 1}) {
      const auto found = expected.find(near);
      EXPECT_EQ(index.find(near), found == expected.end() ? kNoEvent : found->second) << near;
    }
  }
  EXPECT_EQ(index.find(0), kNoEvent);
}

TEST(IdIndex, FindsDenseKeys) { check({5, 6, 0, 8, 7, 6, 5, 9}); }

TEST(IdIndex, FindsSparseKeys) {
  check({1, INT64_MAX - 1, -7, INT64_MIN + 1, 1, int64_t{1} << 40});
  std::mt19937_64 random(1);
  std::vector<int64_t> keys;
  for (int i = 0; i < 20000; ++i) keys.push_back(static_cast<int64_t>(random() >> 3) + 2);
  check(keys);
}

// If keys at equal distances shared their first slots, this would take minutes.
TEST(IdIndex, FindsKeysAtEqualDistances) {
  for (const int shift : {4, 16, 32, 44}) {
    std::vector<int64_t> keys;
    for (int64_t i = 1; i <= 400000; ++i) keys.push_back(i << shift);
    check(keys);
  }
}

TEST(IdIndex, FindsNothingWithoutKeys) {
  check({});
  check({0, 0});
}

}  // namespace
}  // namespace epi::trace
