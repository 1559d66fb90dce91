// SPDX-License-Identifier: Apache-2.0
// Thousands of random walks over the view operators. view_walk.h defines the walk and its model.
#include <gtest/gtest.h>

#include "tests/ops/view_walk.h"

namespace epi {
namespace {

constexpr int kWalks = 4000;
constexpr int kMaxSteps = 8;

TEST(ViewWalkTest, MatchesIndexModelAndCopiesOnlyIfNeeded) {
  int copies = 0;
  for (uint64_t seed = 0; seed < kWalks; ++seed) {
    ViewWalk walk(seed);
    for (uint64_t i = 0; i <= seed % kMaxSteps; ++i) {
      ASSERT_TRUE(walk.step()) << "seed " << seed;
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    copies += walk.copied() ? 1 : 0;
  }
  EXPECT_GT(copies, kWalks / 50) << "too few walks reached a shape that needs a copy";
}

}  // namespace
}  // namespace epi
