// SPDX-License-Identifier: Apache-2.0
// What a call of the CUDA or HIP runtime, or of the driver below it, is for.
#pragma once

#include <cstdint>
#include <string_view>

namespace epi::analysis {

enum class RuntimeCall : uint8_t {
  kLaunch,          // kernels, graphs
  kCopy,            // copies and sets that return before they are done
  kWait,            // returns when the device has done something: synchronisation, blocking copies
  kAllocation,      // memory of the device, and pinned memory of the host
  kFree,            // gives it back; the first one of a process also creates the context
  kInitialization,  // contexts, streams, modules, graphs
  kOther,           // queries, events
};

RuntimeCall runtime_call(std::string_view name);

}  // namespace epi::analysis
