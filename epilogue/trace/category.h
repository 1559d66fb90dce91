// SPDX-License-Identifier: Apache-2.0
// What an event is, by the `cat` of Kineto's files.
#pragma once

#include <cstdint>
#include <string_view>

namespace epi::trace {

enum class Category : uint8_t {
  kNone,  // metadata and some instants have no category
  kCpuOp,
  kUserAnnotation,
  kCudaRuntime,
  kCudaDriver,
  kOverhead,  // the profiler's own, such as asking for a buffer
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kGpuUserAnnotation,
  kPythonFunction,
  kCpuInstantEvent,
  kAc2g,    // flow from a launch to what it started
  kFwdbwd,  // flow from a forward op to its backward
  kCudaSync,
  kTraceSpan,
  kOther,
};

// "cpu_op"; empty for kNone and kOther.
std::string_view text_of(Category category);
// kOther where the text is not known.
Category category_of(std::string_view text);

// Runs on a thread of the CPU, and nests there.
constexpr bool is_host(Category category) {
  return category >= Category::kCpuOp && category <= Category::kOverhead;
}
// A call of the runtime or the driver, which may start work on a device.
constexpr bool is_call(Category category) {
  return category == Category::kCudaRuntime || category == Category::kCudaDriver;
}
// Work of a device: what device time is the sum of.
constexpr bool is_device_work(Category category) {
  return category >= Category::kKernel && category <= Category::kGpuMemset;
}

}  // namespace epi::trace
