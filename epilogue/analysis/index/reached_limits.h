// SPDX-License-Identifier: Apache-2.0
// The limits of the analysis that a trace exceeds, so that a malformed file cannot make it slow.
// Programs' own traces stay far below them. Verbs name those that were reached.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace epi::analysis {

enum class Limit : uint8_t {
  kNestedOperators,     // of one subject, in each other
  kDevices,             // with a breakdown of their own
  kThreads,             // that launch the work of one step
  kEnclosingOperators,  // searched around an event
};
inline constexpr size_t kLimits = 4;

// A set that several threads may add to at once.
class ReachedLimits {
 public:
  void note(Limit limit) const { bits_ |= bit(limit); }
  bool contains(Limit limit) const { return (bits_.load() & bit(limit)) != 0; }
  // One sentence for each limit in the set.
  std::vector<std::string> lines() const;

 private:
  static uint32_t bit(Limit limit) { return uint32_t{1} << static_cast<uint32_t>(limit); }
  mutable std::atomic<uint32_t> bits_{0};
};

}  // namespace epi::analysis
