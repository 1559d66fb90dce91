// SPDX-License-Identifier: Apache-2.0
// Causes of idle time, grouped by their remedy: the letters of the first screen's bar and the
// colors of the report page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "epilogue/analysis/time/bound.h"
#include "epilogue/analysis/time/idle.h"

namespace epi::report {

enum class IdleClass : uint8_t {
  kInput,
  kHost,
  kSync,
  kCompile,
  kAllocation,
  kStartUp,
  kGap,
  kUnknown,
};
inline constexpr size_t kIdleClasses = 8;
using IdleClassTimes = std::array<int64_t, kIdleClasses>;  // nanoseconds, by class

struct IdleClassWords {
  char letter;
  const char* key;   // in JSON, and the color of the page: "idle-host"
  const char* what;  // "waiting for host"
};
const IdleClassWords& words_of(IdleClass idle);

// The activity matters only if the work was not launched yet.
IdleClass idle_class(analysis::IdleCause cause, analysis::HostActivity activity);
inline IdleClass idle_class(const analysis::IdleGap& gap) {
  return idle_class(gap.cause, gap.activity);
}
// The same for a part of the critical path, which must not be device work.
IdleClass idle_class(analysis::Bound bound);
bool is_device_bound(analysis::Bound bound);

// "waiting for host (dispatch)", "launch latency".
std::string cause_text(analysis::IdleCause cause, analysis::HostActivity activity);

IdleClassTimes sums_by_class(const analysis::IdleCauses& causes);

}  // namespace epi::report
