// SPDX-License-Identifier: Apache-2.0
// What a part of a step's critical path is made of: what would have to be faster.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

enum class Bound : uint8_t {
  kArithmetic,     // kernels at the FLOP/s of the device
  kMemory,         // kernels at the bandwidth of its memory, sets, copies inside of it
  kUnclassified,   // kernels of a kind that their names do not tell
  kCopies,         // copies between host and device
  kCommunication,  // with other devices
  kDispatch,       // host overhead before the next launch: operators, Python
  kLaunches,       // launch calls, launch latency, gaps between kernels
  kSynchronizing,  // calls that wait for the device, as far as the device's work does not explain
                   // it
  kInput,          // the DataLoader
  kAllocating,     // memory of the device
  kInitializing,   // context creation, module loading
  kCompiling,
  kNotInFile,  // waiting for something that the file does not show
};
inline constexpr size_t kBounds = 13;
using BoundTimes = std::array<int64_t, kBounds>;  // nanoseconds, by bound

Bound bound_of(HostActivity activity);
// Of a kernel, a copy or a set, by its kind alone: GEMMs are arithmetic.
Bound usual_bound_of_work(const TraceIndex& index, trace::EventId work);
// The same, by how fast it ran where the trace tells what it had to do.
Bound bound_of_work(const TraceIndex& index, trace::EventId work,
                    const std::optional<GpuPeaks>& peaks);

}  // namespace epi::analysis
