// SPDX-License-Identifier: Apache-2.0
// Step names, as used by PyTorch's profiler and by ours: `ProfilerStep#3`, and `ProfilerStep*` for
// all steps.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace epi::trace {

inline constexpr std::string_view kStepPrefix = "ProfilerStep#";
// All steps of a trace as one row or group.
inline constexpr std::string_view kAllSteps = "ProfilerStep*";

inline bool is_step_name(std::string_view name) { return name.starts_with(kStepPrefix); }
inline std::string step_name(int64_t number) { return fmt::format("{}{}", kStepPrefix, number); }
// "3" of "ProfilerStep#3".
inline std::string_view step_number(std::string_view name) {
  return name.substr(kStepPrefix.size());
}

}  // namespace epi::trace
