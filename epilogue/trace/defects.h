// SPDX-License-Identifier: Apache-2.0
// Defects of a file that could be read nevertheless. Reading continues after a defect. Defects are
// counted by kind and reported once, at the end. So are limits of the analyses that a file reaches.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
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
  kNestedSubject,
  kManyDevices,
  kManyThreads,
  kDeepOperators,
  kLongName,
  kBadEscape,
  kControlByte,
  kInvalidUtf8,
  kQuoteInString,
  kStrayComma,
  kTrailingText,
};
inline constexpr size_t kDefectCount = static_cast<size_t>(Defect::kTrailingText) + 1;

// A set that several threads may add to at once.
class DefectSet {
 public:
  DefectSet() = default;
  DefectSet(const DefectSet& other) noexcept : bits_(other.bits_.load()) {}
  DefectSet& operator=(const DefectSet& other) noexcept {
    bits_ = other.bits_.load();
    return *this;
  }
  ~DefectSet() = default;
  void add(const DefectSet& other) { bits_ |= other.bits_.load(); }
  void insert(Defect defect) { bits_ |= bit(defect); }
  bool contains(Defect defect) const { return (bits_.load() & bit(defect)) != 0; }
  bool empty() const { return bits_.load() == 0; }

 private:
  static_assert(kDefectCount <= 32);
  static uint32_t bit(Defect defect) { return uint32_t{1} << static_cast<uint32_t>(defect); }
  std::atomic<uint32_t> bits_{0};
};

class Defects {
 public:
  void count(Defect defect, int64_t times = 1) { counts_[static_cast<size_t>(defect)] += times; }
  // Counts kTooDeep and remembers the lowest position in the file, which `lines` shows.
  void count_too_deep(uint64_t byte) {
    count(Defect::kTooDeep);
    too_deep_byte_ = std::min(too_deep_byte_, byte);
  }
  // Counts a defect once. For analyses of a constant trace, from any thread.
  void note(Defect defect) const { noted_.insert(defect); }
  int64_t of(Defect defect) const {
    return counts_[static_cast<size_t>(defect)] + (noted_.contains(defect) ? 1 : 0);
  }
  uint64_t too_deep_byte() const { return too_deep_byte_; }
  bool empty() const;
  void add(const Defects& other);

  // One line per kind: "2 events with a negative duration: set to 0".
  std::vector<std::string> lines() const;

 private:
  std::array<int64_t, kDefectCount> counts_{};
  mutable DefectSet noted_;
  uint64_t too_deep_byte_ = UINT64_MAX;
};

}  // namespace epi::trace
