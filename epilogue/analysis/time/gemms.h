// SPDX-License-Identifier: Apache-2.0
// Every GEMM of a trace: its sizes, its kernel, and its share of the GPU's peak. GEMMs of the same
// operator, sizes and kernel share one row.
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
  std::string op;                 // "aten::mm"; empty if unknown
  std::optional<GemmShape> gemm;  // if the operator's shapes are recorded
  std::string kernel;
  DecodedName name;
  int64_t count = 0;
  // The kernel plus its companions from the same operator: a split-K reduction, an epilogue.
  double median_ns = 0;
  double total_ns = 0;
  std::optional<double> tflops;  // from the median
  std::optional<double> share_of_peak;
};

struct GemmTable {
  std::string device;             // as recorded in the trace; empty if it is not
  std::optional<GpuPeaks> peaks;  // none: the GPU is not listed
  std::vector<GemmRow> rows;      // by total time, largest first
};

GemmTable gemm_table(const trace::Trace& trace);

}  // namespace epi::analysis
