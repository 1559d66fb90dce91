// SPDX-License-Identifier: Apache-2.0
// The purpose of a CUDA or HIP runtime call, or of a driver call.
#pragma once

#include <cstdint>
#include <string_view>

namespace epi::analysis {

enum class RuntimeCall : uint8_t {
  kLaunch,          // kernels, graphs
  kCopy,            // copies and memsets that return before they are done
  kWait,            // returns when device work is done: synchronization, blocking copies
  kAllocation,      // device memory, and pinned host memory
  kFree,            // frees memory; a process's first call also creates the context
  kInitialization,  // contexts, streams, modules, graphs
  kOther,           // queries, events
};

RuntimeCall runtime_call(std::string_view name);

}  // namespace epi::analysis
