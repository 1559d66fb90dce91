// SPDX-License-Identifier: Apache-2.0
// How fast one kernel ran, where the trace tells what it had to do: its FLOPs and bytes over its
// time, against what the GPU can do at most.
#pragma once

#include <optional>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

struct KernelRate {
  std::optional<double> flops;  // of GEMMs and attention
  std::optional<double> bytes;  // exact, or nothing
  double ns = 0;
  // Shares of the peaks; none where either is not known.
  std::optional<double> of_arithmetic;
  std::optional<double> of_bandwidth;

  // Which of the two takes longer at least. None where neither is known.
  std::optional<bool> is_arithmetic() const;
};

// An operator that launched several kernels tells nothing about each of them, but for a GEMM
// with what runs beside it.
KernelRate kernel_rate(const TraceIndex& index, trace::EventId kernel,
                       const std::optional<GpuPeaks>& peaks);

// Of kernels of one name together, by at most some hundred of them: their FLOPs, bytes and time
// added up. Nothing where calls that tell are less than half of the time.
KernelRate rate_of_all(const TraceIndex& index, const std::vector<trace::EventId>& kernels,
                       const std::optional<GpuPeaks>& peaks);

}  // namespace epi::analysis
