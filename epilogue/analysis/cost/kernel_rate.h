// SPDX-License-Identifier: Apache-2.0
// How fast one kernel ran, if the trace gives its work: FLOPs and bytes over its time, relative to
// the GPU's peaks.
#pragma once

#include <optional>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

struct KernelRate {
  std::optional<double> flops;  // of GEMMs and attention
  std::optional<double> bytes;  // exact, or not set
  double ns = 0;
  // Shares of the peaks. Unset if the amount of work or the peak is unknown.
  std::optional<double> of_peak_flops;
  std::optional<double> of_peak_bandwidth;

  std::optional<double> tflops() const { return per_ns(flops, 1e-3); }
  std::optional<double> bytes_per_ns() const { return per_ns(bytes, 1); }
  // True if the kernel is closer to the peak of arithmetic than of bandwidth. None if neither share
  // is known.
  std::optional<bool> is_compute_bound() const;

 private:
  std::optional<double> per_ns(const std::optional<double>& amount, double factor) const {
    if (!amount || ns <= 0) return std::nullopt;
    return *amount / ns * factor;
  }
};

// FLOPs and bytes come from the kernel's arguments, or from the operator's shapes if the operator
// launched only this kernel.
KernelRate kernel_rate(const TraceIndex& index, trace::EventId kernel,
                       const std::optional<GpuPeaks>& peaks);

// Combined rate of kernels of one name, from at most 256 evenly spaced samples. Sums their FLOPs,
// bytes and time. Unset if the calls with a known amount cover at most half of the time.
KernelRate combined_rate(const TraceIndex& index, const std::vector<trace::EventId>& kernels,
                         const std::optional<GpuPeaks>& peaks);

}  // namespace epi::analysis
