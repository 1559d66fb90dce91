// SPDX-License-Identifier: Apache-2.0
// Every GEMM of a trace: what was asked for, which kernel ran, and how near to the GPU's
// peak. GEMMs of the same operator, sizes and kernel are one row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct GemmRow {
  std::string op;                 // "aten::mm"; empty where no operator is known
  std::optional<GemmShape> gemm;  // where the operator's shapes tell
  std::string kernel;
  DecodedName name;
  int64_t count = 0;
  // The kernel with what the same operator ran beside it: the sum over split-K, an epilogue.
  double median_ns = 0;
  double total_ns = 0;
  std::optional<double> tflops;  // of the median
  std::optional<double> share_of_peak;
};

struct GemmTable {
  std::string device;             // as the trace names it; empty where it does not
  std::optional<GpuPeaks> peaks;  // none: the GPU is not in the table
  std::vector<GemmRow> rows;      // by total time, the largest first
};

GemmTable gemm_table(const trace::Trace& trace);

}  // namespace epi::analysis
