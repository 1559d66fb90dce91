// SPDX-License-Identifier: Apache-2.0
// The words for the enumerators of the analysis of ranks. `key` is the spelling in JSON.
#pragma once

#include "epilogue/analysis/ranks/communication.h"
#include "epilogue/report/description/words.h"

namespace epi::report {

// What limits a rank. Its own enumeration, because schema 1 has other values for it.
enum class RankRegime : uint8_t {};
inline RankRegime rank_regime(analysis::Limiter limiter) {
  return static_cast<RankRegime>(limiter);
}
template <>
struct Words<RankRegime> {
  static constexpr const char* kName = "rank_regime";
  static std::span<const LimiterWords> rows() { return Words<analysis::Limiter>::rows(); }
};

struct BetweenWords {
  const char* key;
  const char* phrase;  // what a rank did between two collectives
};
template <>
struct Words<analysis::Between> {
  static constexpr const char* kName = "between";
  static std::span<const BetweenWords> rows();
};

struct NoStragglerWords {
  const char* key;
};
template <>
struct Words<analysis::NoStraggler> {
  static constexpr const char* kName = "straggler_reason";
  static std::span<const NoStragglerWords> rows();
};

struct RemedyWords {
  const char* key;
};
template <>
struct Words<analysis::CommunicationRemedy> {
  static constexpr const char* kName = "communication_remedy";
  static std::span<const RemedyWords> rows();
};

}  // namespace epi::report
