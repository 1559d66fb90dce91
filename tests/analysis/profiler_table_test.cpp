// SPDX-License-Identifier: Apache-2.0
// The table of PyTorch's `key_averages()`, computed from synthetic traces.
#include "epilogue/analysis/pytorch/profiler_table.h"

#include <gtest/gtest.h>

#include "epilogue/base/error.h"
#include "tests/trace/make_trace.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::TraceMaker;

// Times are differences of doubles in microseconds, which round.
constexpr double kRounding = 1e-9;

const TableRow* find_row(const ProfilerTable& table, std::string_view name, bool device = false) {
  for (const TableRow& row : table.rows) {
    if (row.name == name && row.device == device) return &row;
  }
  return nullptr;
}

// Two steps of a linear. Each has one kernel and the annotation's span on the device.
trace::Trace two_steps() {
  TraceMaker make;
  for (int step = 0; step < 2; ++step) {
    const int64_t at = step * 10000;
    const int64_t id = step * 10;
    make.add(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(step + 2), at, 9000,
             id + 1);
    make.add(Category::kUserAnnotation, "fwd", at + 100, 8000, id + 2);
    make.op("aten::linear", at + 200, 7000, id + 3, R"({"Input Dims": [[2, 3]]})");
    make.op("aten::t", at + 300, 1000, id + 4);
    make.op("aten::addmm", at + 1400, 5000, id + 5);
    make.add(Category::kCudaRuntime, "cudaLaunchKernel", at + 2000, 500, id + 5);
    make.kernel("gemm", at + 3000, 2000 + step * 1000, id + 5);
    make.add(Category::kGpuUserAnnotation, "fwd", at + 2999, 2002 + step * 1000, id + 2, "",
             {0, 7});
  }
  return make.take();
}

TEST(ProfilerTable, AddsUpSelfAndTotalTimesByName) {
  const ProfilerTable table = profiler_table(two_steps());
  const TableRow* linear = find_row(table, "aten::linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->calls, 2);
  EXPECT_NEAR(linear->cpu_total_us, 14.0, kRounding);
  EXPECT_NEAR(linear->self_cpu_us, 2.0, kRounding);
  EXPECT_NEAR(linear->self_device_us, 0.0, kRounding);
  EXPECT_NEAR(linear->device_total_us, 5.0, kRounding);
  const TableRow* addmm = find_row(table, "aten::addmm");
  ASSERT_NE(addmm, nullptr);
  EXPECT_NEAR(addmm->self_cpu_us, 9.0, kRounding);  // the launch is a child
  EXPECT_NEAR(addmm->self_device_us, 5.0, kRounding);
  const TableRow* view = find_row(table, "aten::t");
  ASSERT_NE(view, nullptr);
  EXPECT_NEAR(view->device_total_us, 0.0, kRounding);
}

TEST(ProfilerTable, MergesStepsAndSeparatesDeviceEvents) {
  const ProfilerTable table = profiler_table(two_steps());
  ASSERT_NE(find_row(table, "ProfilerStep*"), nullptr);
  EXPECT_EQ(find_row(table, "ProfilerStep*")->calls, 2);
  const TableRow* gemm = find_row(table, "gemm", true);
  ASSERT_NE(gemm, nullptr);
  EXPECT_NEAR(gemm->self_device_us, 5.0, kRounding);
  EXPECT_NEAR(gemm->cpu_total_us, 0.0, kRounding);
}

TEST(ProfilerTable, ExcludesAnnotationSpansFromDeviceTime) {
  const ProfilerTable table = profiler_table(two_steps());
  const TableRow* span = find_row(table, "fwd", true);
  ASSERT_NE(span, nullptr);
  EXPECT_TRUE(span->annotation);
  EXPECT_NEAR(span->self_device_us, 5.0, kRounding);  // without one nanosecond on each side
  EXPECT_NEAR(table.self_device_total_us, 5.0, kRounding);
}

TEST(ProfilerTable, SelfTimesAddUpToTheTotal) {
  const ProfilerTable table = profiler_table(two_steps());
  double self_us = 0;
  for (const TableRow& row : table.rows) self_us += row.self_cpu_us;
  EXPECT_DOUBLE_EQ(self_us, table.self_cpu_total_us);
  EXPECT_NEAR(self_us, 18.0, kRounding);  // the two steps enclose all events
}

TEST(ProfilerTable, MergesAnEventWithItsOnlyChildOfTheSameName) {
  TraceMaker make;
  make.op("aten::sum", 0, 100, 1);
  make.op("aten::sum", 10, 80, 2);
  make.op("aten::fill", 20, 30, 3);
  make.kernel("reduce", 30, 7, 2);
  const ProfilerTable table = profiler_table(make.take());
  const TableRow* sum = find_row(table, "aten::sum");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->calls, 1);
  EXPECT_NEAR(sum->cpu_total_us, 0.1, kRounding);
  EXPECT_NEAR(sum->self_cpu_us, 0.07, kRounding);
  EXPECT_NEAR(sum->self_device_us, 0.007, kRounding);
  EXPECT_NEAR(sum->device_total_us, 0.007, kRounding);
}

TEST(ProfilerTable, KeepsTwoChildrenOfTheSameName) {
  TraceMaker make;
  make.op("aten::sum", 0, 100, 1);
  make.op("aten::sum", 10, 20, 2);
  make.op("aten::sum", 40, 20, 3);
  const ProfilerTable table = profiler_table(make.take());
  EXPECT_EQ(table.rows.front().calls, 3);
  EXPECT_NEAR(table.rows.front().cpu_total_us, 0.14, kRounding);
}

TEST(ProfilerTable, SeparatesAnnotationFromOperatorOfSameName) {
  TraceMaker make;
  make.add(Category::kUserAnnotation, "relu", 0, 100, 1);
  make.op("relu", 10, 20, 2);
  make.op("other", 40, 20, 3);
  const ProfilerTable table = profiler_table(make.take());
  ASSERT_EQ(table.rows.size(), 3);
  EXPECT_TRUE(table.rows[0].annotation);
  EXPECT_FALSE(table.rows[1].annotation);
}

TEST(ProfilerTable, GroupsByShape) {
  TraceMaker make;
  make.op("aten::mm", 0, 10, 1, R"({"Input Dims": [[2, 3], [3, 4]]})");
  make.op("aten::mm", 20, 10, 2, R"({"Input Dims": [[5, 3], [3, 4]]})");
  make.op("aten::mm", 40, 10, 3, R"({"Input Dims": [[2, 3], [3, 4]]})");
  const trace::Trace trace = make.take();
  EXPECT_EQ(profiler_table(trace).rows.size(), 1);
  const ProfilerTable table = profiler_table(trace, {.by_shape = true});
  ASSERT_EQ(table.rows.size(), 2);
  EXPECT_EQ(table.rows[0].shapes, "[[2, 3], [3, 4]]");
  EXPECT_EQ(table.rows[0].calls, 2);
}

TEST(ProfilerTable, ComputesMinMedianAndP90) {
  TraceMaker make;
  for (int i = 1; i <= 11; ++i) make.op("aten::mm", i * 100, i);
  const ProfilerTable table = profiler_table(make.take(), {.stats = true});
  EXPECT_NEAR(table.rows[0].spread.min_us, 0.001, kRounding);
  EXPECT_NEAR(table.rows[0].spread.median_us, 0.006, kRounding);
  EXPECT_NEAR(table.rows[0].spread.p90_us, 0.01, kRounding);
}

// FLOP counts by PyTorch's formulas, computed by hand. For conv2d on a 224 x 224 image with stride
// 2 it is 2 * (64 * 112 * 112) * (7 * 7 * 3).
TEST(ProfilerTable, CountsFlopsLikePyTorch) {
  TraceMaker make;
  int64_t at = 0;
  const auto op = [&](const char* name, const char* args) {
    at += 100;
    make.op(name, at, 50, at, args);
  };
  op("aten::mm", R"({"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"]})");
  op("aten::bmm", R"({"Input Dims": [[4, 2, 3], [4, 3, 5]], "Input type": ["float", "float"]})");
  op("aten::mul", R"({"Input Dims": [[7, 2], []], "Input type": ["float", "Scalar"]})");
  op("aten::conv2d",
     R"({"Input Dims": [[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []], )"
     R"("Input type": ["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"], )"
     R"("Concrete Inputs": ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"]})");
  op("aten::gelu", R"({"Input Dims": [[7, 2]], "Input type": ["float"]})");
  trace::Trace trace = make.take();
  EXPECT_FALSE(profiler_table(trace).has_flops) << "the trace was recorded without with_flops";
  trace.properties.emplace_back("with_flops", "1");
  const ProfilerTable table = profiler_table(trace);
  EXPECT_EQ(find_row(table, "aten::mm")->flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(find_row(table, "aten::bmm")->flops, 4 * 2 * 2 * 3 * 5);
  EXPECT_EQ(find_row(table, "aten::mul")->flops, 14);
  EXPECT_EQ(find_row(table, "aten::conv2d")->flops, 2LL * 64 * 112 * 112 * 7 * 7 * 3);
  EXPECT_EQ(find_row(table, "aten::gelu")->flops, 0);
}

TEST(SortRows, IsStableAndReportsUnknownColumns) {
  ProfilerTable table = profiler_table(two_steps());
  sort_rows(table, "self_cpu_time_total");
  EXPECT_EQ(table.rows[0].name, "aten::addmm");
  sort_rows(table, "count");
  EXPECT_EQ(table.rows[0].name, "aten::addmm");
  try {
    sort_rows(table, "cpu");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("[table] unknown sort column \"cpu\"; valid columns: cpu_time,"));
  }
}

}  // namespace
}  // namespace epi::analysis
