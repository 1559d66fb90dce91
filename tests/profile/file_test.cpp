// SPDX-License-Identifier: Apache-2.0
// Checks a recorded trace file with an independent parser: it has the fields that readers of Kineto
// traces expect.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "epilogue/base/machine.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/cpu_kernel_lane.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/trace/writer.h"

namespace epi::profile {
namespace {

class RecordedFile : public testing::Test {
 protected:
  RecordedFile() {
    nn::GluMlp mlp(16, 32);
    nn::init_normal(mlp, 1);
    const Tensor x = zeros({2, 4, 16});
    Profiler profiler(
        {.record_shapes = true, .profile_memory = true, .schedule = Schedule{1, 1, 3}});
    for (int i = 0; i < 5; ++i) {
      {
        const RecordFunction range("mlp_fwd \"x\"\n");
        mlp.forward(x);
      }
      profiler.step();
    }
    const auto path = std::filesystem::path(testing::TempDir()) /
                      ("epilogue_recorded_" + std::to_string(::getpid()) + ".json");
    if (!trace::write(profiler.trace(), path)) throw std::runtime_error("cannot write the trace");
    root_ = parser_.load(path.string());
    std::filesystem::remove(path);
  }

  // Events whose `key` is `value`.
  std::vector<simdjson::dom::element> events(const char* key, std::string_view value) const {
    std::vector<simdjson::dom::element> found;
    for (const simdjson::dom::element event : root_["traceEvents"]) {
      std::string_view text;
      if (event[key].get(text) == simdjson::SUCCESS && text == value) found.push_back(event);
    }
    return found;
  }

  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

TEST_F(RecordedFile, DescribesMachineAndOptions) {
  EXPECT_EQ(int64_t(root_["schemaVersion"]), 1);
  EXPECT_EQ(std::string_view(root_["deviceProperties"].at(0)["name"]), cpu_name());
  EXPECT_EQ(simdjson::dom::array(root_["deviceProperties"].at(0)["features"]).size(),
            cpu_features().size());
  EXPECT_EQ(int64_t(root_["record_shapes"]), 1);
  EXPECT_EQ(int64_t(root_["profile_memory"]), 1);
  EXPECT_GT(int64_t(root_["baseTimeNanoseconds"]), 1'700'000'000'000'000'000);
}

TEST_F(RecordedFile, HasUniqueIdsAndMatchingFlows) {
  std::set<int64_t> external_ids;
  for (const char* category : {"cpu_op", "user_annotation"}) {
    for (const auto& event : events("cat", category)) {
      EXPECT_TRUE(external_ids.insert(int64_t(event["args"]["External id"])).second);
    }
  }
  std::set<int64_t> correlations;
  for (const auto& kernel : events("cat", "kernel")) {
    EXPECT_TRUE(correlations.insert(int64_t(kernel["args"]["correlation"])).second);
    EXPECT_TRUE(external_ids.contains(int64_t(kernel["args"]["External id"])));
    EXPECT_GT(int64_t(kernel["args"]["bytes"]), 0);
  }
  EXPECT_EQ(correlations.size(), 15);
  std::map<std::string_view, std::set<int64_t>> flows;
  for (const auto& flow : events("cat", "ac2g")) flows[flow["ph"]].insert(int64_t(flow["id"]));
  EXPECT_EQ(flows["s"], correlations);
  EXPECT_EQ(flows["f"], correlations);
}

TEST_F(RecordedFile, HasStepsAnnotationsInputsAndAllocations) {
  EXPECT_EQ(events("name", "ProfilerStep#2").size(), 1);
  EXPECT_EQ(events("name", "ProfilerStep#4").size(), 1);
  EXPECT_EQ(events("name", "mlp_fwd \"x\"\n").size(), 3);
  const auto mm = events("name", "aten::mm").at(0);
  EXPECT_EQ(simdjson::minify(mm["args"]["Input Dims"]), "[[8,16],[16,32]]");
  EXPECT_EQ(simdjson::minify(mm["args"]["Input Strides"]), "[[16,1],[1,16]]");
  EXPECT_EQ(simdjson::minify(mm["args"]["Input type"]), R"(["float","float"])");
  EXPECT_EQ(simdjson::minify(mm["args"]["Concrete Inputs"]), R"(["",""])");
  EXPECT_FALSE(events("name", "[memory]").empty());
}

TEST_F(RecordedFile, NamesProcessesAndThreads) {
  std::set<std::string_view> names;
  for (const auto& event : events("name", "process_name")) names.insert(event["args"]["name"]);
  EXPECT_TRUE(names.contains("CPU kernels"));
  EXPECT_EQ(names.size(), 2);
  for (const auto& kernel : events("cat", "kernel")) {
    EXPECT_EQ(int64_t(kernel["pid"]), kCpuKernelsPid);
    EXPECT_EQ(int64_t(kernel["tid"]), 0);
  }
  EXPECT_GE(events("name", "thread_name").size(), 2);
}

}  // namespace
}  // namespace epi::profile
