// SPDX-License-Identifier: Apache-2.0
// The table of PyTorch's `key_averages()`, computed from synthetic traces.
#include "epilogue/analysis/pytorch/profiler_table.h"

#include <gtest/gtest.h>

#include "epilogue/base/error.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::TraceBuilder;

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
  TraceBuilder builder;
  for (int64_t i = 0; i < 2; ++i) {
    const double at = 10.0 * static_cast<double>(i);
    const int64_t id = 10 * i;
    const double gemm_us = 2.0 + static_cast<double>(i);
    builder.step(i + 2, at, 9, {.external_id = id + 1})
        .annotation("fwd", at + 0.1, 8, {.external_id = id + 2})
        .op("aten::linear", at + 0.2, 7,
            {.external_id = id + 3, .args = R"({"Input Dims": [[2, 3]]})"})
        .op("aten::t", at + 0.3, 1, {.external_id = id + 4})
        .op("aten::addmm", at + 1.4, 5, {.external_id = id + 5})
        .call("cudaLaunchKernel", at + 2, 0.5, {.external_id = id + 5})
        .unlaunched("gemm", at + 3, gemm_us, {.external_id = id + 5})
        .work(Category::kGpuUserAnnotation, "fwd", at + 2.999, gemm_us + 0.002,
              {.external_id = id + 2});
  }
  return builder.trace();
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
  const ProfilerTable table = profiler_table(TraceBuilder()
                                                 .op("aten::sum", 0, 100, {.external_id = 1})
                                                 .op("aten::sum", 10, 80, {.external_id = 2})
                                                 .op("aten::fill", 20, 30, {.external_id = 3})
                                                 .unlaunched("reduce", 30, 7, {.external_id = 2})
                                                 .trace());
  const TableRow* sum = find_row(table, "aten::sum");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->calls, 1);
  EXPECT_NEAR(sum->cpu_total_us, 100, kRounding);
  EXPECT_NEAR(sum->self_cpu_us, 70, kRounding);
  EXPECT_NEAR(sum->self_device_us, 7, kRounding);
  EXPECT_NEAR(sum->device_total_us, 7, kRounding);
}

TEST(ProfilerTable, KeepsTwoChildrenOfTheSameName) {
  const ProfilerTable table = profiler_table(TraceBuilder()
                                                 .op("aten::sum", 0, 100, {.external_id = 1})
                                                 .op("aten::sum", 10, 20, {.external_id = 2})
                                                 .op("aten::sum", 40, 20, {.external_id = 3})
                                                 .trace());
  EXPECT_EQ(table.rows.front().calls, 3);
  EXPECT_NEAR(table.rows.front().cpu_total_us, 140, kRounding);
}

TEST(ProfilerTable, SeparatesAnnotationFromOperatorOfSameName) {
  const ProfilerTable table = profiler_table(TraceBuilder()
                                                 .annotation("relu", 0, 100, {.external_id = 1})
                                                 .op("relu", 10, 20, {.external_id = 2})
                                                 .op("other", 40, 20, {.external_id = 3})
                                                 .trace());
  ASSERT_EQ(table.rows.size(), 3);
  EXPECT_TRUE(table.rows[0].annotation);
  EXPECT_FALSE(table.rows[1].annotation);
}

TEST(ProfilerTable, GroupsByShape) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const char* dims : {"[[2, 3], [3, 4]]", "[[5, 3], [3, 4]]", "[[2, 3], [3, 4]]"}) {
    at += 20;
    builder.op("aten::mm", at, 10, {.args = std::string(R"({"Input Dims": )") + dims + "}"});
  }
  const trace::Trace trace = builder.trace();
  EXPECT_EQ(profiler_table(trace).rows.size(), 1);
  const ProfilerTable table = profiler_table(trace, {.by_shape = true});
  ASSERT_EQ(table.rows.size(), 2);
  EXPECT_EQ(table.rows[0].shapes, "[[2, 3], [3, 4]]");
  EXPECT_EQ(table.rows[0].calls, 2);
}

TEST(ProfilerTable, ComputesMinMedianAndP90) {
  TraceBuilder builder;
  for (int i = 1; i <= 11; ++i) builder.op("aten::mm", i * 100, i);
  const ProfilerTable table = profiler_table(builder.trace(), {.stats = true});
  EXPECT_NEAR(table.rows[0].spread.min_us, 1, kRounding);
  EXPECT_NEAR(table.rows[0].spread.median_us, 6, kRounding);
  EXPECT_NEAR(table.rows[0].spread.p90_us, 10, kRounding);
}

// FLOP counts by PyTorch's formulas, computed by hand. For conv2d on a 224 x 224 image with stride
// 2 it is 2 * (64 * 112 * 112) * (7 * 7 * 3).
TEST(ProfilerTable, CountsFlopsLikePyTorch) {
  TraceBuilder builder;
  int64_t at = 0;
  const auto op = [&](const char* name, const char* args) {
    at += 100;
    builder.op(name, at, 50, {.external_id = at, .args = args});
  };
  op("aten::mm", R"({"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"]})");
  op("aten::bmm", R"({"Input Dims": [[4, 2, 3], [4, 3, 5]], "Input type": ["float", "float"]})");
  op("aten::mul", R"({"Input Dims": [[7, 2], []], "Input type": ["float", "Scalar"]})");
  op("aten::conv2d",
     R"({"Input Dims": [[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []], )"
     R"("Input type": ["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"], )"
     R"("Concrete Inputs": ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"]})");
  op("aten::gelu", R"({"Input Dims": [[7, 2]], "Input type": ["float"]})");
  EXPECT_FALSE(profiler_table(builder.trace()).has_flops)
      << "the trace was recorded without with_flops";
  const ProfilerTable table = profiler_table(builder.property("with_flops", "1").trace());
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
