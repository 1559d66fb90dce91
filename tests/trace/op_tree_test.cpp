// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/op_tree.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/trace/trace_builder.h"

namespace epi::trace {
namespace {

TEST(OpTree, NestsByTimeNotByFileOrder) {
  TraceBuilder builder;
  const EventId inner = builder.op("inner", 20, 10).last();
  const EventId outer = builder.op("outer", 10, 50).last();
  const EventId second = builder.op("second", 40, 20).last();
  const OpTree tree = build_op_tree(builder.trace());
  EXPECT_EQ(tree.order, (std::vector<EventId>{outer, inner, second}));
  EXPECT_EQ(tree.parent[outer], kNoEvent);
  EXPECT_EQ(tree.parent[inner], outer);
  EXPECT_EQ(tree.parent[second], outer);
  EXPECT_EQ(tree.self_ns[outer], 20000);
}

TEST(OpTree, KeepsFileOrderForEqualTimes) {
  TraceBuilder builder;
  const EventId outer = builder.op("outer", 10, 5).last();
  const EventId inner = builder.op("inner", 10, 5).last();
  const OpTree tree = build_op_tree(builder.trace());
  EXPECT_EQ(tree.parent[inner], outer);
  EXPECT_EQ(tree.self_ns[outer], 0);
}

TEST(OpTree, ChildrenEndWithinTheirParent) {
  TraceBuilder builder;
  const EventId first = builder.op("first", 0, 10).last();
  const EventId across = builder.op("across", 5, 10).last();
  const OpTree tree = build_op_tree(builder.trace());
  EXPECT_EQ(tree.parent[across], kNoEvent);
  EXPECT_EQ(tree.self_ns[first], 10000);
}

TEST(OpTree, SeparatesThreadsAndOmitsDeviceEvents) {
  TraceBuilder builder;
  const EventId here = builder.op("here", 0, 100).last();
  const EventId there = builder.op("there", 10, 10, {.thread = 2}).last();
  const EventId kernel = builder.unlaunched("k", 20, 10).last();
  const EventId launch = builder.call("cudaLaunchKernel", 30, 10).last();
  const OpTree tree = build_op_tree(builder.trace());
  EXPECT_EQ(tree.parent[there], kNoEvent);
  EXPECT_EQ(tree.parent[kernel], kNoEvent);
  EXPECT_EQ(tree.parent[launch], here);
  EXPECT_EQ(tree.order.size(), 3);
  EXPECT_EQ(std::accumulate(tree.self_ns.begin(), tree.self_ns.end(), int64_t{0}), 110000);
}

}  // namespace
}  // namespace epi::trace
