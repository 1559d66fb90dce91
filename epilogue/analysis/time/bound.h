// SPDX-License-Identifier: Apache-2.0
// Classifies parts of a step by what limits them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

enum class Bound : uint8_t {
  kCompute,        // kernels limited by the device's FLOP/s
  kMemory,         // kernels limited by memory bandwidth, memsets, copies within a device
  kUnclassified,   // kernels whose name does not give their kind
  kCopies,         // copies between host and device
  kCommunication,  // with other devices
  kDispatch,       // host overhead before the next launch: operators, Python
  kLaunches,       // launch calls, launch latency, gaps between kernels
  kHostWork,       // other work of the program on the host
  kSynchronizing,  // calls that wait for the device, beyond the time that its work explains
  kInput,          // the DataLoader
  kAllocating,     // device memory
  kInitializing,   // context creation, module loading
  kCompiling,
  kNotInTrace,  // waiting for something that the trace does not record
};
inline constexpr size_t kBounds = 14;
using BoundTimes = std::array<int64_t, kBounds>;  // nanoseconds, by bound

// Groups of bounds that share a remedy. The values from kMixed on are only verdicts.
enum class Limiter : uint8_t {
  kGpu,       // compute, memory
  kHost,      // dispatch, launches
  kHostWork,  // the program's own work on the host
  kInput,     // the DataLoader
  kSynchronizing,
  kCommunication,
  kCopies,  // between host and device
  kAllocating,
  kInitializing,
  kCompiling,
  kNotInTrace,
  kMixed,          // none is large enough
  kCapture,        // captures a CUDA graph: launches start nothing
  kNotConclusive,  // most of the time is spent waiting for something that is not in the trace
  kNoDevice,       // the trace has no device work
};
inline constexpr size_t kLimiters = 11;  // those that a path can have
inline constexpr size_t kAllLimiters = 15;
using LimiterTimes = std::array<int64_t, kLimiters>;  // nanoseconds, by limiter

Limiter limiter_of(Bound bound);
LimiterTimes by_limiter(const BoundTimes& bounds);

Bound bound_of(HostActivity activity);
// The typical bound of a kernel, copy or memset, by its kind alone: GEMMs are compute-bound.
Bound typical_bound_of_work(const TraceIndex& index, trace::EventId work);
// The same, refined by the kernel's rate if the trace gives its FLOPs or bytes.
Bound bound_of_work(const TraceIndex& index, trace::EventId work,
                    const std::optional<GpuPeaks>& peaks);

}  // namespace epi::analysis
