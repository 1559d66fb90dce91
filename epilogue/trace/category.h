// SPDX-License-Identifier: Apache-2.0
// The category of an event: the `cat` field of Kineto's files.
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
  kOverhead,  // of the profiler, such as a buffer request
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kGpuUserAnnotation,
  kPythonFunction,
  kCpuInstantEvent,
  kAc2g,    // flow from a launch to the GPU work that it started
  kFwdbwd,  // flow from a forward op to its backward op
  kCudaSync,
  kTraceSpan,
  kOther,
};

// "cpu_op"; empty for kNone and kOther.
std::string_view text_of(Category category);
// kOther if the text is unknown.
Category category_of(std::string_view text);

// Runs on a CPU thread and nests there.
constexpr bool is_host(Category category) {
  return category >= Category::kCpuOp && category <= Category::kOverhead;
}
// A runtime or driver call, which may launch GPU work.
constexpr bool is_call(Category category) {
  return category == Category::kCudaRuntime || category == Category::kCudaDriver;
}
// GPU work: the events that GPU time is summed over.
constexpr bool is_device_work(Category category) {
  return category >= Category::kKernel && category <= Category::kGpuMemset;
}

}  // namespace epi::trace
