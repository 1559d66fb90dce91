// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/layout.h"

#include <gtest/gtest.h>

#include "epilogue/base/error.h"

namespace epi {
namespace {

TEST(Layout, RowMajorStridesSkipZeroSizes) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
}

TEST(Layout, ContiguityIgnoresStridesOfSizeOne) {
  EXPECT_TRUE(is_contiguous({{2, 1, 3}, {3, 77, 1}}));
  EXPECT_TRUE(is_contiguous({{0, 5}, {9, 9}}));
  EXPECT_TRUE(is_contiguous({{3, 0}, {1, 1}}));
  EXPECT_FALSE(is_contiguous({{2, 3}, {1, 2}}));
  EXPECT_FALSE(is_contiguous({{2, 3}, {0, 1}}));
}

TEST(Layout, CollapseMergesContiguousDimensions) {
  EXPECT_EQ(collapse({{2, 3, 4}, {12, 4, 1}}), (Layout{{24}, {1}}));
  EXPECT_EQ(collapse({{2, 3, 4}, {24, 4, 1}}), (Layout{{2, 12}, {24, 1}}));
  EXPECT_EQ(collapse({{2, 1, 4}, {4, 99, 1}}), (Layout{{8}, {1}}));
  EXPECT_EQ(collapse({{1, 1}, {5, 5}}), (Layout{{}, {}}));
}

TEST(Layout, ViewRequiresContiguousRuns) {
  EXPECT_EQ(view_strides({{6, 4}, {4, 1}}, {2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(view_strides({{6, 4}, {8, 1}}, {2, 3, 4}), (Dims{24, 8, 1}));
  EXPECT_EQ(view_strides({{6, 4}, {8, 1}}, {24}), std::nullopt);
  EXPECT_EQ(view_strides({{4, 6}, {1, 4}}, {24}), std::nullopt);
  EXPECT_EQ(view_strides({{3}, {0}}, {3, 1}), (Dims{0, 1}));
  EXPECT_EQ(view_strides({{0, 3}, {3, 1}}, {5, 0}), (Dims{1, 1}));
}

TEST(Layout, BroadcastingAlignsFromTheEnd) {
  EXPECT_EQ(broadcast_shapes("add", {3, 1, 5}, {4, 1}), (Dims{3, 4, 5}));
  EXPECT_EQ(broadcast_shapes("add", {}, {2, 0}), (Dims{2, 0}));
  EXPECT_EQ(broadcast_strides("add", {{4, 1}, {1, 1}}, {3, 4, 5}), (Dims{0, 1, 0}));
  EXPECT_THROW(broadcast_shapes("add", {3}, {4}), Error);
  EXPECT_THROW(broadcast_strides("add", {{3}, {1}}, {4}), Error);
  EXPECT_THROW(broadcast_strides("add", {{1, 4}, {4, 1}}, {4}), Error);
}

TEST(Layout, ExtentHandlesNegativeStrides) {
  const Extent forward = extent({{2, 3}, {10, 1}});
  EXPECT_EQ(forward.begin, 0);
  EXPECT_EQ(forward.end, 13);
  const Extent backward = extent({{3}, {-2}});
  EXPECT_EQ(backward.begin, -4);
  EXPECT_EQ(backward.end, 1);
  EXPECT_THROW(extent({{INT64_MAX, 3}, {INT64_MAX, 1}}), Error);
}

TEST(Layout, RejectsElementCountOverflow) {
  EXPECT_THROW(numel({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_EQ(numel({int64_t{1} << 40, 0, int64_t{1} << 40}), 0);
}

TEST(Dims, RejectRanksAboveEight) {
  EXPECT_THROW(Dims({1, 2, 3, 4, 5, 6, 7, 8, 9}), Error);
  Dims eight = Dims::filled(8, 1);
  EXPECT_THROW(eight.push_back(1), Error);
}

}  // namespace
}  // namespace epi
