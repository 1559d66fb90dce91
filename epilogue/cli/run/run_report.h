// SPDX-License-Identifier: Apache-2.0
// The result of `epilogue run`, as text, Markdown or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/run/forward_view.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cli {

// All calls of one kernel in a forward, added up.
struct KernelSum {
  std::string name;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t flops = 0;
  int64_t dur_ns = 0;
  int64_t launched_ns = 0;  // first launch
};

// The compiler's part in one run.
struct CompileResult {
  CompileOptions options;
  std::vector<VariantInfo> variants;  // compiled in this run: first call and recompiles
  int recompiles = 0;
  std::string shown{};  // the text of --show
};

struct RunResult {
  std::string workload;
  std::string title;
  DType dtype = DType::kF32;
  Device device = kCpu;
  std::string kernels_from{};               // package of prebuilt kernels; empty: none
  std::optional<CompileResult> compiled{};  // empty for eager and prebuilt
  std::vector<ForwardOp> ops;               // one recorded forward
  std::vector<KernelSum> kernels;           // in the order of their first launch
  ForwardTimes times;
  std::optional<analysis::ProfilerTable> table{};  // with --table
  std::string trace_path{};                        // empty: not written
  std::string table_path{};
};

// "the CPU: Intel(R) Xeon(R) Processor, 2 threads, avx512", "cuda:0: NVIDIA H200".
std::string device_text(Device device);

std::vector<KernelSum> sum_kernels(const std::vector<ForwardOp>& ops);

std::string run_text(const RunResult& result, bool markdown);
void run_json(JsonWriter& json, const RunResult& result);

}  // namespace epi::cli
