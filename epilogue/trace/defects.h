// SPDX-License-Identifier: Apache-2.0
// What was wrong with a file that could be read nevertheless: counted by kind, shown once at the
// end. Reading goes on.
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

  // One line a kind: "2 events clamped: negative duration".
  std::vector<std::string> lines() const;

 private:
  std::array<int64_t, kDefectCount> counts_{};
};

}  // namespace epi::trace
