// SPDX-License-Identifier: Apache-2.0
// The result of `epilogue run`, as text, Markdown or JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/forward_record.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cli {

// A kernel name with its runs in one forward added up.
struct KernelSum {
  std::string name;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t flops = 0;
  int64_t dur_ns = 0;
};

struct RunResult {
  std::string workload;
  std::string title;
  DType dtype = DType::kF32;
  std::vector<RecordedOp> ops;     // of one recorded forward
  std::vector<KernelSum> kernels;  // in the order of their first run
  std::vector<double> times_ns;    // of the measured forwards, sorted
};

std::vector<KernelSum> sum_kernels(const std::vector<RecordedKernel>& kernels);

std::string run_text(const RunResult& result, bool markdown);
void run_json(JsonWriter& json, const RunResult& result);

}  // namespace epi::cli
