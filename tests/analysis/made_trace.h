// SPDX-License-Identifier: Apache-2.0
// Traces made up for a test, small enough to be counted by hand; and recorded ones of every kind.
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

// The critical path has no gap and is as long as the window.
inline void expect_whole_path(const Diagnosis& diagnosis) {
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

// A small trace: one host thread, streams of one device, times in microseconds.
class MadeTrace {
 public:
  MadeTrace& host(const char* category, const std::string& name, int64_t begin, int64_t dur,
                  int64_t correlation = 0, int64_t thread = 1) {
    return add(category, name, 1, thread, begin, dur, correlation);
  }
  // A launch of two microseconds at `asked`, and its work.
  MadeTrace& kernel(const std::string& name, int64_t asked, int64_t begin, int64_t dur,
                    int64_t stream = 7, int64_t thread = 1) {
    host("cuda_runtime", "cudaLaunchKernel", asked, 2, ++count_, thread);
    return add("kernel", name, 0, stream, begin, dur, count_);
  }
  // Work whose launch is not in the file.
  MadeTrace& device_work(const std::string& name, int64_t begin, int64_t dur) {
    return add("kernel", name, 0, 7, begin, dur, 1000000 + ++count_);
  }
  MadeTrace& copy(const std::string& call, int64_t asked, int64_t call_dur, int64_t begin,
                  int64_t dur) {
    host("cuda_runtime", call, asked, call_dur, ++count_);
    return add("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, begin, dur, count_);
  }
  trace::Trace trace(const std::string& pattern = {}) const {
    trace::Trace made = trace::read_text(text_ + "]", "made").value();
    made.step_pattern = pattern;
    return made;
  }
  Diagnosis diagnosis() const {
    const trace::Trace made = trace();
    Diagnosis result = diagnoses(TraceIndex(made)).at(0);
    expect_whole_path(result);
    return result;
  }

 private:
  MadeTrace& add(const char* category, const std::string& name, int64_t pid, int64_t tid,
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
