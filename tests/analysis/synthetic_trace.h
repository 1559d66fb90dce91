// SPDX-License-Identifier: Apache-2.0
// Synthetic traces that are small enough to check by hand, and a list of recorded traces.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/trace/reader.h"

namespace epi::analysis {

inline constexpr const char* kTraces[] = {
    "traces/linear_eager.json",   "traces/linear_compile.json",
    "traces/mlp_eager.json",      "traces/mlp_compile.json",
    "traces/mlp_cudagraph.json",  "traces/mlp_liger.json",
    "traces/matmul_add_64.json",  "traces/matmul_add_4096.json",
    "traces/llama_train.json.gz", "pytorch/streams.json.gz",
    "pytorch/misc.json.gz",       "pytorch/train_no_schedule.json.gz"};

// The critical path has no gaps and covers the window.
inline void expect_path_covers_window(const Diagnosis& diagnosis) {
  ASSERT_FALSE(diagnosis.path.empty());
  int64_t at = diagnosis.window.begin;
  BoundTimes bounds{};
  for (const PathPart& part : diagnosis.path) {
    ASSERT_EQ(part.begin_ns, at);
    ASSERT_GT(part.end_ns, part.begin_ns);
    at = part.end_ns;
    bounds[static_cast<size_t>(part.bound)] += part.end_ns - part.begin_ns;
  }
  EXPECT_EQ(at, diagnosis.window.end);
  EXPECT_EQ(bounds, diagnosis.bounds);
}

// Builds a small trace with one device. Times are in microseconds.
class SyntheticTrace {
 public:
  SyntheticTrace& host(const char* category, const std::string& name, int64_t begin, int64_t dur,
                       int64_t correlation = 0, int64_t thread = 1) {
    return add(category, name, 1, thread, begin, dur, correlation);
  }
  // Adds a launch call of two microseconds at `launch`, and the kernel it starts.
  SyntheticTrace& kernel(const std::string& name, int64_t launch, int64_t begin, int64_t dur,
                         int64_t stream = 7, int64_t thread = 1) {
    host("cuda_runtime", "cudaLaunchKernel", launch, 2, ++count_, thread);
    return add("kernel", name, 0, stream, begin, dur, count_);
  }
  // Adds a kernel without a recorded launch.
  SyntheticTrace& device_work(const std::string& name, int64_t begin, int64_t dur) {
    return add("kernel", name, 0, 7, begin, dur, 1000000 + ++count_);
  }
  SyntheticTrace& copy(const std::string& call, int64_t launch, int64_t call_dur, int64_t begin,
                       int64_t dur) {
    host("cuda_runtime", call, launch, call_dur, ++count_);
    return add("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, begin, dur, count_);
  }
  trace::Trace trace(const std::string& pattern = {}) const {
    trace::Trace result = trace::read_bytes(text_ + "]", "synthetic").value();
    result.step_pattern = pattern;
    return result;
  }
  Diagnosis diagnosis() const {
    const trace::Trace recorded = trace();
    Diagnosis result = diagnoses(TraceIndex(recorded)).at(0);
    expect_path_covers_window(result);
    return result;
  }

 private:
  SyntheticTrace& add(const char* category, const std::string& name, int64_t pid, int64_t tid,
                      int64_t begin, int64_t dur, int64_t correlation) {
    text_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"correlation": {}}}}})",
        text_ == "[" ? "" : ",", category, name, pid, tid, begin, dur, correlation);
    return *this;
  }
  std::string text_ = "[";
  int64_t count_ = 0;
};

inline constexpr const char* kGemm = "ampere_sgemm_32x32_tn";
inline constexpr const char* kStep = "ProfilerStep#1";

}  // namespace epi::analysis
