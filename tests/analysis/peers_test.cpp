// SPDX-License-Identifier: Apache-2.0
// Checks values that the tests of other projects (HTA, TraceLens) assert about their public traces.
// The traces are not part of this repository. These tests skip if the files are missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/step/breakdown.h"
#include "epilogue/analysis/step/summary.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/reader.h"
#include "tests/analysis/diagnosed_trace.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

class Peers : public testing::Test {
 protected:
  // Returns nullopt if the file is missing.
  std::optional<trace::Trace> read(const std::string& name) {
    for (const char* ending : {".json.gz", ".json"}) {
      const auto path =
          std::filesystem::path(EPI_TEST_DATA) / "../../../shared/data/peers" / (name + ending);
      if (!std::filesystem::exists(path)) continue;
      auto trace = trace::read(path);
      if (!trace) throw std::runtime_error(trace.error().message);
      return std::move(*trace);
    }
    return std::nullopt;
  }
  static std::set<std::string_view> names_of(const trace::Trace& trace, Category category) {
    std::set<std::string_view> names;
    for (EventId id = 0; id < trace.size(); ++id) {
      if (trace.category[id] == category) names.insert(trace.name_of(id));
    }
    return names;
  }
};

#define READ_OR_SKIP(trace, name) \
  auto trace = read(name);        \
  if (!trace) GTEST_SKIP() << name << " is not in ../shared/data/peers"

#define MODEL_OR_SKIP(made, name)  \
  READ_OR_SKIP(made##_read, name); \
  const ModeledTrace made(std::move(*made##_read))

TEST_F(Peers, TraceLensBertTimesByOperator) {
  READ_OR_SKIP(trace, "tracelens_h100_bert");
  const trace::Links links = trace::link(*trace);
  std::map<std::string_view, std::pair<double, int>> by_op;
  std::map<Category, double> by_category;
  for (EventId id = 0; id < trace->size(); ++id) {
    if (!trace->is_span(id) || !trace::is_device_work(trace->category[id])) continue;
    const double us = static_cast<double>(trace->dur_ns[id]) / 1000;
    by_category[trace->category[id]] += us;
    if (trace->category[id] != Category::kKernel || links.op[id] == trace::kNoEvent) continue;
    auto& [sum_us, count] = by_op[trace->name_of(links.op[id])];
    sum_us += us;
    ++count;
  }
  // The expected sums add doubles over about 60 events. Ours add integer nanoseconds.
  constexpr double kRoundingUs = 0.1;
  EXPECT_NEAR(by_category[Category::kKernel], 307.19775, kRoundingUs);
  EXPECT_NEAR(by_category[Category::kGpuMemcpy], 2.23999, kRoundingUs);
  EXPECT_NEAR(by_op["aten::addmm"].first, 197.598, kRoundingUs);
  EXPECT_EQ(by_op["aten::addmm"].second, 26);
  EXPECT_NEAR(by_op["aten::native_layer_norm"].first, 30.912, kRoundingUs);
  EXPECT_EQ(by_op["aten::native_layer_norm"].second, 10);
  EXPECT_NEAR(by_op["aten::_flash_attention_forward"].first, 37.408, kRoundingUs);
  EXPECT_EQ(by_op["aten::_flash_attention_forward"].second, 4);
  EXPECT_NEAR(by_op["aten::add"].first, 14.753, kRoundingUs);
  EXPECT_EQ(by_op["aten::add"].second, 9);
  EXPECT_NEAR(by_op["aten::index_select"].first, 9.824, kRoundingUs);
  EXPECT_EQ(by_op["aten::index_select"].second, 3);
  EXPECT_NEAR(by_op["aten::gelu"].first, 9.599, kRoundingUs);
  EXPECT_EQ(by_op["aten::gelu"].second, 5);
}

TEST_F(Peers, TraceLensBertBusyAndIdleTime) {
  MODEL_OR_SKIP(made, "tracelens_h100_bert");
  const auto device = breakdown(made.models).at(0);
  constexpr double kRoundingUs = 0.1;
  EXPECT_NEAR(static_cast<double>(device.shares.busy_ns) / 1000, 309.43774, kRoundingUs);
  EXPECT_NEAR(static_cast<double>(device.shares.idle_ns) / 1000, 3598.38721, kRoundingUs);
  EXPECT_NEAR(static_cast<double>(device.shares.window_ns) / 1000, 3907.82495, kRoundingUs);
}

TEST_F(Peers, StepsOwnTheirGpuEvents) {
  MODEL_OR_SKIP(made, "hta_ns_resolution");
  const StepGroup& steps = made.models.steps();
  ASSERT_EQ(steps.steps.size(), 5);
  size_t gpu_events = 0;
  for (const StepModel& step : steps.steps) gpu_events += step.owned.work.size();
  EXPECT_EQ(gpu_events, 6095);
}

TEST_F(Peers, KeepsNanosecondPrecision) {
  READ_OR_SKIP(trace, "hta_ns_resolution");
  EXPECT_EQ(names_of(*trace, Category::kGpuUserAnnotation).size(), 3);
  EXPECT_EQ(names_of(*trace, Category::kUserAnnotation).size(), 13);
  // Parsed as doubles, 63 operators overlap partially. As integer nanoseconds none does.
  const trace::OpTree tree = trace::build_op_tree(*trace);
  std::map<trace::LaneId, std::vector<int64_t>> open;
  for (const EventId id : tree.order) {
    if (trace->category[id] != Category::kCpuOp) continue;
    auto& ends = open[trace->lane[id]];
    while (!ends.empty() && ends.back() <= trace->ts_ns[id]) ends.pop_back();
    EXPECT_TRUE(ends.empty() || trace->end_ns(id) <= ends.back());
    ends.push_back(trace->end_ns(id));
  }
}

TEST_F(Peers, FindsStepsOfHtaCompareTrace) {
  MODEL_OR_SKIP(made, "hta_compare_base");
  const auto& found = made.models.steps().steps;
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].name, "ProfilerStep#1009");
  EXPECT_EQ(found[1].name, "ProfilerStep#1010");
  EXPECT_EQ(found[1].cpu_ns, 122149000);
}

TEST_F(Peers, ReadsOldCategories) {
  READ_OR_SKIP(trace, "hta_old_categories");
  EXPECT_FALSE(names_of(*trace, Category::kCudaRuntime).empty());
  EXPECT_FALSE(names_of(*trace, Category::kKernel).empty());
}

TEST_F(Peers, ReadsRankOfCpuOnlyTrace) {
  READ_OR_SKIP(trace, "hta_cpu_only");
  EXPECT_EQ(trace::find_value(trace->property("distributedInfo"), "rank"), "34");
}

// The limiter of a step in each trace, determined by reading its events by hand.
struct PeerVerdict {
  const char* trace;
  Limiter limiter;
};
class PeerVerdicts : public Peers, public testing::WithParamInterface<PeerVerdict> {};

TEST_P(PeerVerdicts, FollowFromRetiming) {
  MODEL_OR_SKIP(made, GetParam().trace);
  const auto found = diagnose(made.models, made.models.judged());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->limiter, GetParam().limiter);
  expect_path_covers_window(*found);
}

INSTANTIATE_TEST_SUITE_P(
    , PeerVerdicts,
    testing::Values(PeerVerdict{"tracelens_h100_owlv2", Limiter::kInput},
                    PeerVerdict{"tracelens_vllm_piecewise_replay", Limiter::kGpu},
                    PeerVerdict{"tracelens_vllm_decode_replay", Limiter::kGpu},
                    PeerVerdict{"tracelens_sglang_decode_replay", Limiter::kGpu},
                    PeerVerdict{"tracelens_sglang_decode_capture", Limiter::kCapture},
                    PeerVerdict{"tracelens_vllm_decode_capture", Limiter::kCapture},
                    PeerVerdict{"hta_critical_alexnet", Limiter::kInitializing},
                    PeerVerdict{"hta_critical_simple_add", Limiter::kInitializing},
                    PeerVerdict{"hta_amd_mi250", Limiter::kInitializing},
                    PeerVerdict{"hta_ns_resolution", Limiter::kGpu},
                    PeerVerdict{"tracelens_h100_qwen", Limiter::kGpu},
                    PeerVerdict{"tracelens_h100_bert", Limiter::kHost}),
    [](const auto& peer) { return std::string(peer.param.trace); });

// Kernels that were launched before the file starts belong to no step.
TEST_F(Peers, QwenStepOwnsOnlyItsLaunches) {
  MODEL_OR_SKIP(made, "tracelens_h100_qwen");
  EXPECT_EQ(made.models.steps().steps.at(0).kernels, 1029);
}

// A ROCm copy that blocks for 463 ms counts as a synchronization.
TEST_F(Peers, BlockingRocmCopyIsASync) {
  READ_OR_SKIP(trace, "tracelens_sglang_decode_replay");
  const TraceIndex index(*trace);
  const auto syncs = index.ownership.everything().syncs;
  EXPECT_TRUE(std::any_of(syncs.begin(), syncs.end(), [&](trace::EventId id) {
    return trace->name_of(id) == "hipMemcpyWithStream";
  }));
}

// Of the 3090 runs of the add kernel, the 282 longer than 20 us take 87 % of its time. The others
// are far below peak bandwidth.
TEST_F(Peers, KernelRatesAreWeightedByTime) {
  MODEL_OR_SKIP(made, "kineto_resnet50_worker0");
  const Summary summary = summarize(made.models);
  for (size_t i = 0; i < summary.rates.size(); ++i) {
    if (decode_name(summary.kernels[i].name).ops != std::vector<std::string>{"add"}) continue;
    EXPECT_NEAR(summary.rates[i].of_peak_bandwidth.value_or(0), 0.87, 0.01);
    return;
  }
  ADD_FAILURE() << "no add among the largest kernels";
}

TEST_F(Peers, FindsStepsRecordedAsOperators) {
  MODEL_OR_SKIP(made, "kineto_resnet50_worker0");
  EXPECT_EQ(made.models.steps().steps.size(), 6U);
}

}  // namespace
}  // namespace epi::analysis
