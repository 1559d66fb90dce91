// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/category.h"

#include <algorithm>
#include <array>
#include <utility>

namespace epi::trace {
namespace {

using Row = std::pair<Category, std::string_view>;
constexpr auto kTexts = std::to_array<Row>({
    {Category::kCpuOp, "cpu_op"},
    {Category::kUserAnnotation, "user_annotation"},
    {Category::kCudaRuntime, "cuda_runtime"},
    {Category::kCudaDriver, "cuda_driver"},
    {Category::kKernel, "kernel"},
    {Category::kGpuMemcpy, "gpu_memcpy"},
    {Category::kGpuMemset, "gpu_memset"},
    {Category::kGpuUserAnnotation, "gpu_user_annotation"},
    {Category::kPythonFunction, "python_function"},
    {Category::kCpuInstantEvent, "cpu_instant_event"},
    {Category::kAc2g, "ac2g"},
    {Category::kFwdbwd, "fwdbwd"},
    {Category::kOverhead, "overhead"},
    {Category::kCudaSync, "cuda_sync"},
    {Category::kTraceSpan, "Trace"},
});
// Names used before PyTorch 1.13.
constexpr auto kLegacyTexts = std::to_array<Row>({
    {Category::kCpuOp, "Operator"},
    {Category::kCudaRuntime, "Runtime"},
    {Category::kKernel, "Kernel"},
    {Category::kGpuMemcpy, "Memcpy"},
    {Category::kGpuMemset, "Memset"},
});
// Categories of devices other than GPUs, mapped to the equivalent GPU category.
constexpr auto kOtherDevices = std::to_array<Row>({
    {Category::kCudaRuntime, "mtia_runtime"},
    {Category::kKernel, "mtia_ccp_events"},
});

}  // namespace

std::string_view text_of(Category category) {
  const auto* row =
      std::find_if(kTexts.begin(), kTexts.end(), [&](const Row& r) { return r.first == category; });
  return row == kTexts.end() ? std::string_view() : row->second;
}

Category category_of(std::string_view text) {
  if (text.empty()) return Category::kNone;
  const auto matches = [&](const Row& row) { return row.second == text; };
  const auto* row = std::find_if(kTexts.begin(), kTexts.end(), matches);
  if (row != kTexts.end()) return row->first;
  const auto* old = std::find_if(kLegacyTexts.begin(), kLegacyTexts.end(), matches);
  if (old != kLegacyTexts.end()) return old->first;
  const auto* other = std::find_if(kOtherDevices.begin(), kOtherDevices.end(), matches);
  return other == kOtherDevices.end() ? Category::kOther : other->first;
}

}  // namespace epi::trace
