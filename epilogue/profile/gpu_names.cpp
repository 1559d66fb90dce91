// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/gpu_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace epi::profile {
namespace {

// Calls that Kineto leaves out, and queries that libraries make around each launch.
constexpr auto kSmallCalls = std::to_array<std::string_view>({
    "cudaDeviceGetAttribute",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaGetDevice",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaSetDevice",
    "cudaStreamGetCaptureInfo",
    "cudaStreamIsCapturing",
    "cudaThreadExchangeStreamCaptureMode",
});

constexpr auto kDriverCalls = std::to_array<std::string_view>({
    "cuCtxSynchronize",
    "cuEventSynchronize",
    "cuGraphLaunch",
    "cuLaunch",
    "cuMemcpy",
    "cuMemset",
    "cuStreamSynchronize",
});

constexpr std::string_view kPerThreadStream = "_ptsz";

}  // namespace

std::string_view api_name(std::string_view name) {
  const size_t version = name.rfind("_v");
  if (version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos) {
    name = name.substr(0, version);
  }
  if (name.ends_with(kPerThreadStream)) name.remove_suffix(kPerThreadStream.size());
  return name;
}

std::string kernel_name(const char* name) {
  if (name == nullptr) return "unknown";
  // A plain C name can also be a valid mangled type: `i` is int.
  if (!std::string_view(name).starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

bool is_worth_showing(bool driver, std::string_view name) {
  if (!driver) return std::find(kSmallCalls.begin(), kSmallCalls.end(), name) == kSmallCalls.end();
  return std::any_of(kDriverCalls.begin(), kDriverCalls.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace epi::profile
