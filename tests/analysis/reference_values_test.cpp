// SPDX-License-Identifier: Apache-2.0
// Reference values of the traces in tests/data/traces, computed by an independent program in
// integer nanoseconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/analysis/modeled_trace.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

struct Reference {
  const char* file;
  int64_t kernels, memcpys, memsets;
  int64_t kernel_ns;
  int64_t busy_ns;
  int64_t span_ns;  // of the device work, first start to last end
  std::vector<int64_t> steps_ns;
};

const Reference kReferences[] = {
    {"linear_eager.json", 3, 0, 0, 8160, 8160, 285150, {349462, 101542, 123671}},
    {"linear_compile.json", 3, 0, 0, 8128, 8128, 875453, {485196, 455344, 333970}},
    {"matmul_add_64.json", 6, 0, 0, 8479, 8479, 228191, {246258, 76266, 67233}},
    {"matmul_add_4096.json", 6, 0, 3, 584509, 586909, 606654, {214900, 92212, 71150}},
    {"mlp_eager.json", 15, 0, 6, 699032, 703672, 1080025, {505662, 337635, 332638}},
    {"mlp_compile.json", 12, 0, 6, 606465, 611137, 1744930, {769088, 648189, 696975}},
    {"mlp_cudagraph.json", 15, 0, 6, 664223, 668669, 887135, {541695, 301689, 272301}},
    {"mlp_liger.json", 12, 0, 6, 626621, 631293, 1546424, {667998, 480151, 516103}},
    {"llama_train.json.gz",
     4605,
     75,
     180,
     29267379,
     29722931,
     310823819,
     {99553185, 101990412, 110901653}},
};

TEST(ReferenceValues, MatchForEveryTrace) {
  for (const Reference& reference : kReferences) {
    SCOPED_TRACE(reference.file);
    const ModeledTrace made(std::string("traces/") + reference.file);
    const trace::Trace& trace = made.trace;
    EXPECT_TRUE(trace.defects.empty());
    int64_t kernel_ns = 0;
    int64_t begin_ns = INT64_MAX;
    int64_t end_ns = 0;
    for (EventId id = 0; id < trace.size(); ++id) {
      if (!trace::is_device_work(trace.category[id])) continue;
      if (trace.category[id] == Category::kKernel) kernel_ns += trace.dur_ns[id];
      begin_ns = std::min(begin_ns, trace.ts_ns[id]);
      end_ns = std::max(end_ns, trace.end_ns(id));
    }
    EXPECT_EQ(kernel_ns, reference.kernel_ns);
    EXPECT_EQ(end_ns - begin_ns, reference.span_ns);
    const StepModel& all = made.models.whole_trace().steps.at(0);
    EXPECT_EQ(all.kernels, reference.kernels);
    EXPECT_EQ(all.memcpys, reference.memcpys);
    EXPECT_EQ(all.memsets, reference.memsets);
    EXPECT_EQ(all.busy_ns, reference.busy_ns);
    std::vector<int64_t> steps_ns;
    for (const StepModel& step : made.models.steps().steps) steps_ns.push_back(step.cpu_ns);
    EXPECT_EQ(steps_ns, reference.steps_ns);
  }
}

// Another thread launches the kernels of the backward pass. The device span of its annotation is
// only 0.7 us.
TEST(ReferenceValues, MatchForForwardBackwardAndOptimizer) {
  const ModeledTrace made("traces/llama_train.json.gz");
  const std::map<std::string, std::pair<int64_t, int64_t>> expected = {
      {"forward", {1563, 9607800}}, {"backward", {3225, 18066500}}, {"optimizer", {72, 2048700}}};
  int found = 0;
  for (const StepGroup& group : made.models.annotations()) {
    const auto reference = expected.find(group.name);
    if (reference == expected.end()) continue;
    ++found;
    int64_t events = 0;
    int64_t gpu_ns = 0;
    for (const StepModel& one : group.steps) {
      events += one.kernels + one.memcpys + one.memsets;
      gpu_ns += one.gpu_ns;
    }
    EXPECT_EQ(events, reference->second.first) << group.name;
    EXPECT_NEAR(static_cast<double>(gpu_ns), static_cast<double>(reference->second.second), 50)
        << group.name;  // reference values are rounded to 0.1 us
  }
  EXPECT_EQ(found, 3);
}

TEST(ReferenceValues, EveryKernelHasALaunchAndAnOperator) {
  for (const Reference& reference : kReferences) {
    const trace::Trace trace = read_data(std::string("traces/") + reference.file);
    const trace::Links links = trace::link(trace);
    for (EventId id = 0; id < trace.size(); ++id) {
      if (trace.category[id] != Category::kKernel) continue;
      ASSERT_NE(links.launch[id], trace::kNoEvent) << reference.file;
      ASSERT_NE(links.op[id], trace::kNoEvent) << reference.file;
    }
  }
}

TEST(ReferenceValues, GraphLaunchOwnsAllItsKernels) {
  const trace::Trace trace = read_data("traces/mlp_cudagraph.json");
  const trace::Links links = trace::link(trace);
  std::map<EventId, int> started;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace::is_device_work(trace.category[id])) ++started[links.launch[id]];
  }
  int graphs = 0;
  for (const auto& [launch, count] : started) {
    if (trace.name_of(launch) != "cudaGraphLaunch") continue;
    ++graphs;
    EXPECT_EQ(count, 6);
  }
  EXPECT_EQ(graphs, 3);
}

}  // namespace
}  // namespace epi::analysis
