// SPDX-License-Identifier: Apache-2.0
// What keeps a step, or an annotation, from being shorter: its window divided by what the device
// did in it, or waited for. The largest part is what binds it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/index/subject.h"
#include "epilogue/analysis/time/breakdown.h"

namespace epi::analysis {

enum class Bound : uint8_t {
  kArithmetic,
  kMemory,         // kernels at the memory's bandwidth, copies and sets
  kCommunication,  // alone
  kDispatch,       // idle: the CPU had not come to the next launch
  kLaunches,       // idle: in launching, on the way, between kernels
  kSynchronizing,  // idle: the CPU was waiting itself
};
inline constexpr size_t kBounds = 6;

struct TimeUse {
  std::string name;
  int64_t instances = 0;
  double window_ns = 0;  // of the typical instance, without moments of other steps' work
  std::array<double, kBounds> ns{};

  Bound bound() const;
  double share(Bound bound) const;
};

// Of the typical instance of one subject; none where it owns no device work.
std::optional<TimeUse> time_use(const TraceIndex& index, const Subject& subject);
// Of the steps first, then of every annotation that owns device work. Empty without device work.
std::vector<TimeUse> time_uses(const TraceIndex& index);

}  // namespace epi::analysis
