// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/op_tree.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/trace/make_trace.h"

namespace epi::trace {
namespace {

TEST(OpTree, NestsByTimeNotByFileOrder) {
  TraceMaker make;
  const EventId inner = make.op("inner", 20, 10);
  const EventId outer = make.op("outer", 10, 50);
  const EventId second = make.op("second", 40, 20);
  const OpTree tree = build_op_tree(make.take());
  EXPECT_EQ(tree.order, (std::vector<EventId>{outer, inner, second}));
  EXPECT_EQ(tree.parent[outer], kNoEvent);
  EXPECT_EQ(tree.parent[inner], outer);
  EXPECT_EQ(tree.parent[second], outer);
  EXPECT_EQ(tree.self_ns[outer], 20);
}

TEST(OpTree, KeepsFileOrderForEqualTimes) {
  TraceMaker make;
  const EventId outer = make.op("outer", 10, 5);
  const EventId inner = make.op("inner", 10, 5);
  const OpTree tree = build_op_tree(make.take());
  EXPECT_EQ(tree.parent[inner], outer);
  EXPECT_EQ(tree.self_ns[outer], 0);
}

TEST(OpTree, ChildrenEndWithinTheirParent) {
  TraceMaker make;
  const EventId first = make.op("first", 0, 10);
  const EventId across = make.op("across", 5, 10);
  const OpTree tree = build_op_tree(make.take());
  EXPECT_EQ(tree.parent[across], kNoEvent);
  EXPECT_EQ(tree.self_ns[first], 10);
}

TEST(OpTree, SeparatesThreadsAndOmitsDeviceEvents) {
  TraceMaker make;
  const EventId here = make.op("here", 0, 100);
  const EventId there = make.add(Category::kCpuOp, "there", 10, 10, 0, "", {100, 101});
  const EventId kernel = make.kernel("k", 20, 10, 1);
  const EventId launch = make.add(Category::kCudaRuntime, "cudaLaunchKernel", 30, 10);
  const OpTree tree = build_op_tree(make.take());
  EXPECT_EQ(tree.parent[there], kNoEvent);
  EXPECT_EQ(tree.parent[kernel], kNoEvent);
  EXPECT_EQ(tree.parent[launch], here);
  EXPECT_EQ(tree.order.size(), 3);
  EXPECT_EQ(std::accumulate(tree.self_ns.begin(), tree.self_ns.end(), int64_t{0}), 110);
}

}  // namespace
}  // namespace epi::trace
