// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace epi::trace {
namespace {

// In the order of the enumerators: what the defect is, and what the reader did about it.
struct Meaning {
  const char* one;
  std::string_view many;  // empty if a file can have the defect only once
};
constexpr std::array<Meaning, kDefectCount> kMeanings = {{
    {"the file ends inside the list of events: the events before that are kept", ""},
    {"the compressed data is corrupt or truncated: the data before that is kept", ""},
    {"event skipped: malformed", "events skipped: malformed"},
    {"event skipped: nested too deeply", "events skipped: nested too deeply"},
    {"event skipped: missing or invalid time", "events skipped: missing or invalid time"},
    {"event with a negative duration: set to 0", "events with a negative duration: set to 0"},
    {"event skipped: its phase is not X, B, E, i, M, s, f or C",
     "events skipped: their phase is not X, B, E, i, M, s, f or C"},
    {"unpaired begin or end event: not shown", "unpaired begin or end events: not shown"},
    {"more than 64 annotations overlap: the others are not measured", ""},
    {"event with a name longer than 64 KiB: cut", "events with a name longer than 64 KiB: cut"},
    {"name with an invalid JSON escape: kept as written",
     "names with an invalid JSON escape: kept as written"},
    {"string with a raw control byte: kept", "strings with a raw control byte: kept"},
    {"name with invalid UTF-8: replaced by U+FFFD", "names with invalid UTF-8: replaced by U+FFFD"},
    {"string with an unescaped quote: kept", "strings with an unescaped quote: kept"},
    {"stray comma: skipped", "stray commas: skipped"},
    {"the file continues after the end of the trace: the rest is ignored", ""},
}};

}  // namespace

bool Defects::empty() const {
  return std::all_of(counts_.begin(), counts_.end(), [](int64_t count) { return count == 0; });
}

void Defects::add(const Defects& other) {
  for (size_t i = 0; i < kDefectCount; ++i) counts_[i] += other.counts_[i];
  too_deep_byte_ = std::min(too_deep_byte_, other.too_deep_byte_);
}

std::vector<std::string> Defects::lines() const {
  std::vector<std::string> result;
  for (size_t i = 0; i < kDefectCount; ++i) {
    const int64_t count = of(static_cast<Defect>(i));
    if (count == 0) continue;
    const auto [one, many] = kMeanings[i];
    if (many.empty()) {
      result.emplace_back(one);
    } else {
      result.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
    }
    if (static_cast<Defect>(i) == Defect::kTooDeep) {
      result.back() += fmt::format(", the first at byte {}", too_deep_byte_);
    }
  }
  return result;
}

}  // namespace epi::trace
