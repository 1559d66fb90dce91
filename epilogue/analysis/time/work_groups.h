// SPDX-License-Identifier: Apache-2.0
// What a device was busy with, in terms of the model: linear layers, attention, norms. Repeated
// work forms one group.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

enum class WorkClass : uint8_t {
  kGemm,
  kAttention,
  kUnfusedAttention,  // bmm, softmax, bmm
  kConvolution,
  kNorm,
  kSoftmax,
  kReduction,
  kPointwise,
  kOptimizer,
  kCommunication,
  kHostCopies,    // between host and device
  kDeviceCopies,  // within the device, and memsets
  kIndexing,      // gather, sort, random numbers
  kOther,
};

// By the kind alone. Copies between host and device are among kDeviceCopies, and unfused attention
// among its parts.
WorkClass work_class(Kind kind);

struct WorkGroup {
  WorkClass what = WorkClass::kOther;
  std::string about;  // GEMM sizes or an operator; empty: the whole class
  int64_t kinds = 1;  // number of distinct groups folded into this one
  int64_t calls = 0;
  int64_t ns = 0;
  double share = 0;  // of all work
  // Weighted by time, over the calls with a known rate. None if they cover at most half of the
  // time.
  std::optional<double> of_peak_flops;
  std::optional<double> of_peak_bandwidth;
  std::optional<double> bytes_per_ns;
};

struct WorkGroups {
  std::vector<WorkGroup> groups;  // longest first, at most `most`
  int64_t ns = 0;                 // of all work
  int64_t rest_calls = 0;         // work in no group
  int64_t rest_ns = 0;
  // FLOPs of GEMMs, convolutions and attention, as far as the trace gives them.
  double flops = 0;
  double peak_ns = 0;  // their time at the dense peaks of their types
  bool all_flops_known = false;
  bool most_flops_known = false;  // of at least half of the time of such kernels
};

// Finds each softmax between two batched GEMMs, with at most a few kernels (scale, mask, cast) in
// between. Each result is a range of `work`, which must be in launch order.
std::vector<std::span<const trace::EventId>> unfused_attention(
    const TraceIndex& index, std::span<const trace::EventId> work);

WorkGroups work_groups(const TraceIndex& index, std::span<const trace::EventId> work,
                       const std::optional<GpuPeaks>& peaks, size_t most);

}  // namespace epi::analysis
