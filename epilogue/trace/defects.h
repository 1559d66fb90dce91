// SPDX-License-Identifier: Apache-2.0
// Defects of a file that could be read nevertheless. Reading continues after a defect. Defects are
// counted by kind and reported once, at the end.
#pragma once

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
  kBadTime,
  kNegativeDuration,
  kUnknownPhase,
  kUnpaired,
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
  int64_t of(Defect defect) const { return counts_[static_cast<size_t>(defect)]; }
  bool empty() const;
  void add(const Defects& other);

  // One line per kind: "2 events with a negative duration: set to 0".
  std::vector<std::string> lines() const;

 private:
  std::array<int64_t, kDefectCount> counts_{};
};

}  // namespace epi::trace
