// SPDX-License-Identifier: Apache-2.0
// What a device was busy with, as a person would name it: linear layers, attention, norms. Repeated
// work is one group.
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
  kDeviceCopies,  // inside of the device, and sets
  kIndexing,      // gather, sort, random numbers
  kOther,
};

struct WorkGroup {
  WorkClass what = WorkClass::kOther;
  std::string about;  // sizes of a GEMM, an operator; empty: all of the class
  int64_t kinds = 1;  // how many different ones it stands for
  int64_t calls = 0;
  int64_t ns = 0;
  // Weighted by time, over calls that tell; none where they are less than half of the time.
  std::optional<double> of_arithmetic;
  std::optional<double> of_bandwidth;
  std::optional<double> bytes_per_ns;
};

struct WorkGroups {
  std::vector<WorkGroup> groups;  // the longest first, at most as many as were asked for
  int64_t ns = 0;                 // of all work
  int64_t rest_calls = 0;         // what is in no group
  int64_t rest_ns = 0;
  // FLOPs of GEMMs, convolutions and attention, where the trace tells them of each.
  double flops = 0;
  double peak_ns = 0;  // how long they take at the dense peaks of their types
  bool all_flops_known = false;
};

// A softmax between two batched GEMMs, with at most a few kernels (scale, mask, cast) between
// them: each as a part of `work`, which is in the order of launches.
std::vector<std::span<const trace::EventId>> unfused_attention(
    const TraceIndex& index, std::span<const trace::EventId> work);

WorkGroups work_groups(const TraceIndex& index, std::span<const trace::EventId> work,
                       const std::optional<GpuPeaks>& peaks, size_t most);

}  // namespace epi::analysis
