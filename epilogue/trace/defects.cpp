// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace epi::trace {
namespace {

// In the order of the enumerators: what one of them is, and what was done about it.
struct Meaning {
  const char* one;
  std::string_view many;  // empty: a file has it or not, and there is nothing to count
};
constexpr std::array<Meaning, kDefectCount> kMeanings = {{
    {"the file ends inside the list of events: what came before is kept", ""},
    {"the compressed data is broken or cut: what came before is kept", ""},
    {"event left out: its text is broken", "events left out: their text is broken"},
    {"event left out: it has no readable time", "events left out: they have no readable time"},
    {"event clamped to no duration: it was negative",
     "events clamped to no duration: it was negative"},
    {"event left out: a phase that is not X, B, E, i, M, s, f or C",
     "events left out: a phase that is not X, B, E, i, M, s, f or C"},
    {"begin or end without the other: not shown", "begins or ends without the other: not shown"},
    {"name with an escape that JSON does not have: kept as written",
     "names with an escape that JSON does not have: kept as written"},
    {"string with a raw control byte: kept", "strings with a raw control byte: kept"},
    {"name with bytes that are no UTF-8: replaced", "names with bytes that are no UTF-8: replaced"},
    {"string with a quote inside that is not escaped: kept",
     "strings with a quote inside that is not escaped: kept"},
    {"stray comma: skipped", "stray commas: skipped"},
    {"the file goes on behind the end of its trace: that is not read", ""},
}};

}  // namespace

bool Defects::empty() const {
  return std::all_of(counts_.begin(), counts_.end(), [](int64_t count) { return count == 0; });
}

void Defects::add(const Defects& other) {
  for (size_t i = 0; i < kDefectCount; ++i) counts_[i] += other.counts_[i];
}

std::vector<std::string> Defects::lines() const {
  std::vector<std::string> result;
  for (size_t i = 0; i < kDefectCount; ++i) {
    if (counts_[i] == 0) continue;
    const auto [one, many] = kMeanings[i];
    if (many.empty()) {
      result.emplace_back(one);
    } else {
      result.push_back(fmt::format("{} {}", counts_[i], counts_[i] == 1 ? one : many));
    }
  }
  return result;
}

}  // namespace epi::trace
