// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/search.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace epi::analysis {
namespace {

TEST(Search, FindsTheSamePlaceFromEveryStart) {
  for (size_t size = 0; size <= 40; ++size) {
    std::vector<size_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    for (size_t expected = 0; expected <= size; ++expected) {
      for (size_t start = 0; start <= size + 2; ++start) {
        EXPECT_EQ(count_before(numbers, start, [&](size_t one) { return one < expected; }),
                  expected)
            << "from " << start << " of " << size;
      }
    }
  }
}

TEST(Search, LooksOnlyNearTheStart) {
  std::vector<size_t> numbers(1 << 20);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  const size_t start = numbers.size() / 2;
  for (const size_t expected : {start - 100, start, start + 100}) {
    int comparisons = 0;
    const auto is_before = [&](size_t one) {
      ++comparisons;
      return one < expected;
    };
    EXPECT_EQ(count_before(numbers, start, is_before), expected);
    EXPECT_LE(comparisons, 16);  // twice the logarithm of 100, and a few
  }
}

}  // namespace
}  // namespace epi::analysis
