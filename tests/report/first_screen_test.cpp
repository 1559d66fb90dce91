// SPDX-License-Identifier: Apache-2.0
// The first screen: its contents for traces with a known limiter, and its size.
#include "epilogue/report/screen/first_screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "epilogue/trace/reader.h"
#include "tests/analysis/modeled_trace.h"

namespace epi::report {
namespace {

constexpr size_t kColumns = 80;

void expect_fits(const std::string& screen) {
  std::istringstream lines(screen);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(line.size(), kColumns) << line;
  EXPECT_LE(count, kScreenLines) << screen;
}

std::string screen_of(const analysis::ModeledTrace& made, const std::string& file) {
  return text_of(SummaryResult(made.models, file), {.width = kColumns});
}

bool is_trace(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

TEST(FirstScreen, FitsForEveryTrace) {
  const std::filesystem::path data(EPI_TEST_DATA);
  int screens = 0;
  for (const auto& folder : {data, data / "../../../shared/data"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file() || !is_trace(entry.path())) continue;
      auto trace = trace::read(entry.path());
      if (!trace || trace->size() == 0) continue;  // not a trace
      SCOPED_TRACE(entry.path().filename().string());
      const analysis::ModeledTrace made(std::move(*trace));
      expect_fits(screen_of(made, entry.path().string()));
      ++screens;
    }
  }
  EXPECT_GT(screens, 20);
}

TEST(FirstScreen, ReportsMlpAsHostBound) {
  const analysis::ModeledTrace made("traces/mlp_eager.json");
  const analysis::Overview data(made.models);
  EXPECT_EQ(data.advised.diagnosis->limiter, analysis::Limiter::kHost);
  EXPECT_EQ(data.advised.diagnosis->step.name, "ProfilerStep#4");
  // 3 x 2 x 8192 x 3072 x 768 FLOP at 989.5 TFLOP/s, in 358.105 us.
  EXPECT_NEAR(data.mfu().value_or(0), 115.96e9 / 989.5e3 / 358105, 0.001);
  ASSERT_GE(data.groups.groups.size(), 4U);
  EXPECT_EQ(data.groups.groups[0].about, "8192x3072x768 bf16");
  EXPECT_EQ(data.groups.groups[0].calls, 2);
  EXPECT_EQ(data.groups.groups[2].about, "mul");
  const std::string screen = screen_of(made, "mlp_eager.json");
  for (const char* part : {"HOST-BOUND", "GPU idle 122.6 us", "GPU busy 235.5 us", "MFU 33 %",
                           "CUDA graph", "gelu", "The profiler slows the host"}) {
    EXPECT_NE(screen.find(part), std::string::npos) << part;
  }
}

// The bar fills the line for any shares.
TEST(FirstScreen, BarFillsTheLine) {
  for (const char* name : {"traces/mlp_eager.json", "traces/llama_train.json.gz"}) {
    std::istringstream lines(screen_of(analysis::ModeledTrace(name), name));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("step ")) continue;
      EXPECT_EQ(line.size(), kColumns) << line;
    }
  }
}

TEST(FirstScreen, ShowsDataLoadingFunctionOfOwlv2) {
  const auto path = std::filesystem::path(EPI_TEST_DATA) /
                    "../../../shared/data/peers/tracelens_h100_owlv2.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not in ../shared/data/peers";
  const analysis::ModeledTrace made(trace::read(path).value());
  const analysis::Overview data(made.models);
  EXPECT_EQ(data.advised.diagnosis->limiter, analysis::Limiter::kInput);
  EXPECT_EQ(data.loading.fetches, 5);
  EXPECT_EQ(data.loading.function, "scipy/ndimage/_interpolation.py(739): zoom");
  EXPECT_NEAR(static_cast<double>(data.loading.function_ns), 531e6, 1e6);
  EXPECT_NEAR(static_cast<double>(data.loading.ns), 619e6, 1e6);
  // No advice saves more than it removes.
  for (const auto& advice : data.advised.advice) {
    if (analysis::is_about_work(advice.kind)) continue;
    // For a wait: the call and the idle time after it, which the profiler may have hidden.
    double max_ns = advice.bound_ns + 1;
    for (const analysis::Term& term : advice.terms) {
      const bool waits = term.what == analysis::Term::What::kCpuWaits ||
                         term.what == analysis::Term::What::kIdleAfter;
      if (waits) max_ns += term.value;
    }
    EXPECT_LE(advice.saving_ns.high, max_ns);
  }
  ASSERT_FALSE(data.advised.advice.empty());
  EXPECT_EQ(data.advised.advice[0].kind, analysis::AdviceKind::kInput);
}

}  // namespace
}  // namespace epi::report
