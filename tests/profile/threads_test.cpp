// SPDX-License-Identifier: Apache-2.0
// Recording from several threads while profilers start and stop. `make check` runs these tests
// under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/trace/op_tree.h"
#include "tests/profile/events.h"

namespace epi::profile {
namespace {

using trace::Category;
using trace::EventId;

constexpr int kThreads = 8;

// Runs blocks of operators in eight threads until destroyed.
class BusyThreads {
 public:
  BusyThreads() {
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this] {
        const Tensor x = zeros({4, 8});
        while (!done_.load()) {
          const RecordFunction range("block");
          relu(t(x));
          blocks_.fetch_add(1);
        }
      });
    }
  }
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;
  ~BusyThreads() {
    done_ = true;
    for (auto& thread : threads_) thread.join();
  }
  // Waits until the threads have run `count` more blocks in total.
  void run(int count) const {
    const int target = blocks_.load() + count;
    while (blocks_.load() < target) std::this_thread::yield();
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<int> blocks_{0};
  std::vector<std::thread> threads_;
};

// Ranges of a thread do not overlap partially: each ends before its enclosing range.
void expect_no_overlap(const trace::Trace& trace, const trace::OpTree& tree) {
  std::vector<EventId> open;
  for (const EventId id : tree.order) {
    const auto is_over = [&](EventId outer) {
      return trace.lane[outer] != trace.lane[id] || trace.end_ns(outer) <= trace.ts_ns[id];
    };
    while (!open.empty() && is_over(open.back())) open.pop_back();
    if (!open.empty()) {
      ASSERT_LE(trace.end_ns(id), trace.end_ns(open.back()))
          << trace.name_of(id) << " in " << trace.name_of(open.back());
    }
    open.push_back(id);
  }
}

// Ranges nest, and operators have the parents that the code implies.
void expect_nesting(const trace::Trace& trace) {
  const trace::OpTree tree = trace::build_op_tree(trace);
  expect_no_overlap(trace, tree);
  for (const EventId id : tree.order) {
    const EventId parent = tree.parent[id];
    ASSERT_GE(tree.self_ns[id], 0);
    const auto name = trace.name_of(id);
    const auto caller = parent == trace::kNoEvent ? "" : trace.name_of(parent);
    ASSERT_TRUE(name != "aten::as_strided" || caller == "aten::transpose" || caller.empty());
  }
}

void expect_unique_ids(const trace::Trace& trace) {
  std::set<int64_t> external_ids;
  std::set<int64_t> correlations;
  for (EventId id = 0; id < trace.size(); ++id) {
    const bool is_range =
        trace.category[id] == Category::kCpuOp || trace.category[id] == Category::kUserAnnotation;
    if (trace.is_span(id) && is_range) {  // CUDA calls have the id of their enclosing range
      ASSERT_TRUE(external_ids.insert(trace.external_id[id]).second);
    }
    if (trace.category[id] == Category::kKernel) {
      ASSERT_TRUE(correlations.insert(trace.correlation[id]).second);
      ASSERT_TRUE(external_ids.contains(trace.external_id[id]));
    }
  }
}

TEST(Threads, AreRecordedOnSeparateLanes) {
  Profiler profiler;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      const Tensor x = zeros({4, 8});
      for (int n = 0; n < 1000; ++n) relu(t(x));
    });
  }
  for (auto& thread : threads) thread.join();
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  std::set<trace::LaneId> lanes;
  for (const EventId id : events_of(trace, Category::kCpuOp)) lanes.insert(trace.lane[id]);
  EXPECT_EQ(lanes.size(), kThreads);
  EXPECT_EQ(events_of(trace, Category::kCpuOp).size(), kThreads * 4000);
  EXPECT_EQ(events_of(trace, Category::kKernel).size(), kThreads * 1000);
  expect_nesting(trace);
  expect_unique_ids(trace);
}

TEST(Threads, RunWhileProfilersStartAndStop) {
  const BusyThreads busy;
  size_t recorded = 0;
  for (int round = 0; round < 20; ++round) {
    Profiler profiler({.record_shapes = round % 2 == 0, .profile_memory = round % 3 == 0});
    busy.run(100);
    profiler.stop();
    expect_nesting(profiler.trace());
    expect_unique_ids(profiler.trace());
    recorded += events_of(profiler.trace(), Category::kCpuOp).size();
  }
  EXPECT_GT(recorded, 20 * 100);
}

TEST(Threads, RunWhileAScheduleAdvances) {
  const BusyThreads busy;
  int cycles = 0;
  Profiler profiler(
      {.schedule = Schedule{1, 1, 2, 0}, .on_trace_ready = [&](const trace::Trace& trace) {
         ++cycles;
         expect_nesting(trace);
       }});
  for (int step = 0; step < 40; ++step) {
    busy.run(20);
    profiler.step();
  }
  profiler.stop();
  EXPECT_EQ(cycles, 10);
}

}  // namespace
}  // namespace epi::profile
