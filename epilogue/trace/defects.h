// SPDX-License-Identifier: Apache-2.0
// Defects of a file that could be read nevertheless. Reading continues after a defect. Defects are
// counted by kind and reported once, at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace epi::trace {

enum class Defect : uint8_t {
  kTruncated,
  kBrokenCompression,
  kBrokenEvent,
  kTooDeep,
  kBadTime,
  kNegativeDuration,
  kUnknownPhase,
  kUnpaired,
  kDeepOverlap,
  kLongName,
  kBadEscape,
  kControlByte,
  kInvalidUtf8,
  kQuoteInString,
  kStrayComma,
  kTrailingText,
};
inline constexpr size_t kDefectCount = static_cast<size_t>(Defect::kTrailingText) + 1;

class Defects {
 public:
  void count(Defect defect, int64_t times = 1) { counts_[static_cast<size_t>(defect)] += times; }
  // Counts kTooDeep and remembers the lowest position in the file, which `lines` shows.
  void count_too_deep(uint64_t byte) {
    count(Defect::kTooDeep);
    too_deep_byte_ = std::min(too_deep_byte_, byte);
  }
  int64_t of(Defect defect) const { return counts_[static_cast<size_t>(defect)]; }
  uint64_t too_deep_byte() const { return too_deep_byte_; }
  bool empty() const;
  void add(const Defects& other);

  // One line per kind: "2 events with a negative duration: set to 0".
  std::vector<std::string> lines() const;

 private:
  std::array<int64_t, kDefectCount> counts_{};
  uint64_t too_deep_byte_ = UINT64_MAX;
};

}  // namespace epi::trace
