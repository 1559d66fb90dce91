// SPDX-License-Identifier: Apache-2.0
// A trace file with GPU events: our reader restores it, and an independent parser finds the same
// keys as in PyTorch's files.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "epilogue/trace/reader.h"
#include "epilogue/trace/writer.h"
#include "tests/profile/gpu_recording.h"
#include "tests/trace/same_trace.h"

namespace epi::profile {
namespace {

using Keys = std::set<std::string>;

trace::Trace gpu_trace() {
  GpuRecording recording;
  recording.begin_annotation("mlp_fwd", 1000);
  recording.begin_op(Op::kMm, 1100);
  recording.launch({.id = 1, .bytes = 64, .flops = 8}, 1150);
  recording.call("cudaLaunchKernel", 1, 1200, 1);
  recording.call("cudaMemsetAsync", 2, 1400, 1);
  recording.call("cuLaunchKernelEx", 3, 1600);
  recording.end(2000);
  recording.end(3000);
  recording.work(WorkKind::kKernel, "void gemm<float, \"x\">(int)", 1, 4000);
  recording.work(WorkKind::kMemset, "Memset (Device)", 2, 5000).bytes = 4;
  recording.work(WorkKind::kKernel, "reduce", 3, 6000);
  return recording.collect({{2, kBeginNs + 500, kBeginNs + 9000, kTid}});
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The argument names of each category's events.
std::map<std::string, Keys> keys_of(const std::string& path) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(content_of(path));
  std::map<std::string, Keys> found;
  for (const simdjson::dom::element event : root["traceEvents"]) {
    std::string_view category;
    if (event["cat"].get(category) != simdjson::SUCCESS) continue;
    Keys& keys = found[std::string(category)];
    simdjson::dom::object args;
    if (event["args"].get(args) != simdjson::SUCCESS) continue;
    for (const auto& [key, value] : args) keys.emplace(key);
  }
  return found;
}

std::set<std::string> device_keys(const std::string& path) {
  simdjson::dom::parser parser;
  Keys keys;
  for (const auto& [key, value] :
       simdjson::dom::object(parser.parse(content_of(path))["deviceProperties"].at(0))) {
    keys.emplace(key);
  }
  return keys;
}

class GpuFile : public testing::Test {
 protected:
  GpuFile()
      : path_(testing::TempDir() + "/epilogue_gpu_file_" + std::to_string(::getpid()) + ".json") {
    if (!trace::write(trace_, path_)) throw std::runtime_error("cannot write the trace");
  }
  ~GpuFile() override { std::filesystem::remove(path_); }

  trace::Trace trace_ = gpu_trace();
  std::string path_;
  std::string pytorch_ = std::string(EPI_TEST_DATA) + "/traces/mlp_eager.json";
};

TEST_F(GpuFile, RoundTrips) {
  const auto read = trace::read(path_);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->defects.empty());
  EXPECT_EQ(read->properties, trace_.properties);
  trace::expect_same_events(*read, trace_, false);
}

TEST_F(GpuFile, HasTheArgumentsOfPyTorch) {
  auto ours = keys_of(path_);
  auto pytorch = keys_of(pytorch_);
  for (const char* category :
       {"cuda_driver", "cuda_runtime", "gpu_memset", "gpu_user_annotation", "ac2g"}) {
    EXPECT_EQ(ours[category], pytorch[category]) << category;
  }
  EXPECT_EQ(ours["kernel"].erase("bytes"), 1);
  EXPECT_EQ(ours["kernel"].erase("flops"), 1);
  EXPECT_EQ(ours["kernel"], pytorch["kernel"]);
}

TEST_F(GpuFile, DescribesTheDeviceWithPyTorchKeys) {
  EXPECT_EQ(device_keys(path_), device_keys(pytorch_));
}

}  // namespace
}  // namespace epi::profile
