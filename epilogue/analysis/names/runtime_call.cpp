// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/runtime_call.h"

#include <algorithm>
#include <initializer_list>

namespace epi::analysis {
namespace {

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return has(name, part); });
}

// "cudaMemcpyAsync" is asynchronous. "cudaMemcpy", "hipMemcpyWithStream" and "cuMemcpyDtoH_v2"
// return when the copy is done. All forms of memset are asynchronous.
bool is_blocking_copy(std::string_view name) {
  return has(name, "Memcpy") && !has_any(name, {"Async", "Batch", "Node"});
}

}  // namespace

RuntimeCall runtime_call(std::string_view name) {
  if (has(name, "ynchronize") || is_blocking_copy(name)) return RuntimeCall::kWait;
  if (has_any(name, {"LaunchKernel", "GraphLaunch", "LaunchCooperative", "ModuleLaunch"})) {
    return RuntimeCall::kLaunch;
  }
  if (has_any(name, {"Memcpy", "Memset"})) return RuntimeCall::kCopy;
  if (has_any(name, {"Free", "MemRelease", "MemUnmap", "HostUnregister"})) {
    return RuntimeCall::kFree;
  }
  if (has_any(name, {"Malloc", "MemAlloc", "HostAlloc", "HostRegister", "MemCreate", "MemMap",
                     "MemAddressReserve", "MemPoolCreate"})) {
    return RuntimeCall::kAllocation;
  }
  if (has_any(name, {"ModuleLoad", "LibraryLoad", "CtxCreate", "PrimaryCtx", "StreamCreate",
                     "GraphInstantiate", "GetFunction", "GetKernel"}) ||
      name == "cuInit" || name == "hipInit") {
    return RuntimeCall::kInitialization;
  }
  return RuntimeCall::kOther;
}

}  // namespace epi::analysis
