// SPDX-License-Identifier: Apache-2.0
// Estimates what a compiler would fuse: operators that read each other's results, without a GEMM
// between them, become one generated kernel. The time of that kernel follows from the bytes that it
// still moves. The saving is the time of the replaced kernels minus that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/estimate.h"
#include "epilogue/analysis/advise/tensor_flow.h"
#include "epilogue/analysis/cost/generated_cost.h"
#include "epilogue/analysis/cost/op_cost.h"

namespace epi::analysis {

struct FusionGroup {
  std::vector<trace::EventId> work;  // that the fused kernel replaces
  int64_t kernels = 0;               // in `work`; memsets are not kernels
  std::vector<std::string> ops;      // "gelu", "mul", in order
  double eager_ns = 0;
  double eager_bytes = 0;
  double fused_bytes = 0;  // most likely value
  double fused_ns = 0;
  int64_t fused_kernels = 1;
  int64_t count = 1;   // of identical groups in one step
  Estimate saving_ns;  // of all of them
  bool sizes_known = true;
};

// Adds whose addend a GEMM could add in its epilogue, of one GEMM size.
struct AddmmGroup {
  GemmShape sizes;
  std::vector<trace::EventId> adds;
  double now_ns = 0;
  double after_ns = 0;
  Estimate saving_ns;
};

struct FusionEstimate {
  std::vector<FusionGroup> groups;  // largest saving first; identical groups are merged
  std::vector<AddmmGroup> addmms;   // compilers do this, too
  Estimate saving_ns;               // of both
  int64_t kernels = 0;              // of the step
  int64_t kernels_after = 0;        // most likely value

  GpuRates rates;
  bool rates_measured = false;  // the bandwidth was measured on this trace's kernels
};

// `work` is the work that one step owns.
FusionEstimate estimate_fusion(const TraceIndex& index, std::span<const trace::EventId> work);

// Moves adds that could be part of a GEMM from `groups` to `addmms`. Part of `estimate_fusion`.
void find_addmms(const TraceIndex& index, const std::vector<FlowNode>& nodes,
                 FusionEstimate& estimate);

}  // namespace epi::analysis
