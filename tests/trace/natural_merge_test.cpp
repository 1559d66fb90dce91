// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/natural_merge.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace epi::trace {
namespace {

using Item = std::pair<int, int>;  // sorted by the first, the second distinguishes equal keys

TEST(NaturalMerge, IsAStableSort) {
  std::mt19937 random(1);
  for (const int range : {1, 3, 100, 100000}) {
    for (const size_t size : {0, 1, 2, 3, 10, 1000}) {
      std::vector<Item> items;
      for (size_t i = 0; i < size; ++i) items.emplace_back(random() % range, i);
      // Sort the first half: traces contain sorted runs.
      if (size > 9) std::stable_sort(items.begin(), items.begin() + static_cast<long>(size / 2));
      const auto less = [](const Item& a, const Item& b) { return a.first < b.first; };
      auto expected = items;
      std::stable_sort(expected.begin(), expected.end(), less);
      EXPECT_EQ(natural_merge(items, less), expected) << range << " " << size;
    }
  }
}

}  // namespace
}  // namespace epi::trace
