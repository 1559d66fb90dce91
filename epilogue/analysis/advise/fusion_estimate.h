// SPDX-License-Identifier: Apache-2.0
// What a compiler would join: operators whose results are read by the next one, without a GEMM
// between them, become one generated kernel. What that kernel takes is estimated from the bytes
// that it still moves, and its saving is the time of the kernels that it replaces less that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/tensor_flow.h"
#include "epilogue/analysis/cost/generated_cost.h"

namespace epi::analysis {

// Between two bounds, with what is most likely.
struct Estimate {
  double low = 0;
  double likely = 0;
  double high = 0;
};

struct FusionGroup {
  std::vector<trace::EventId> work;  // what it replaces
  int64_t kernels = 0;               // of it: sets are no kernels
  std::vector<std::string> ops;      // "gelu", "mul", in order
  double eager_ns = 0;
  double eager_bytes = 0;
  double fused_bytes = 0;  // most likely
  double fused_ns = 0;
  int64_t fused_kernels = 1;
  int64_t count = 1;   // of groups alike, in one step
  Estimate saving_ns;  // of all of them
  bool sizes_known = true;
};

struct FusionEstimate {
  std::vector<FusionGroup> groups;  // the largest saving first; groups alike are one
  Estimate saving_ns;
  int64_t kernels = 0;        // of the step
  int64_t kernels_after = 0;  // as likely

  GpuRates rates;
  bool rates_measured = false;  // the bandwidth is that of this trace's own kernels
};

// Of the work that one step owns.
FusionEstimate estimate_fusion(const TraceIndex& index, std::span<const trace::EventId> work);

}  // namespace epi::analysis
