// SPDX-License-Identifier: Apache-2.0
// The vocabulary of a rule: quantifiers, measures, comparisons, units. Used only by
// rule_parser.cpp.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/expect/rule.h"
#include "epilogue/base/join.h"

namespace epi::analysis::rule_words {

template <typename T>
struct Word {
  std::string_view text;
  T value;
};
constexpr Word<Quantifier> kQuantifiers[] = {{"each", Quantifier::kEach},
                                             {"any", Quantifier::kAny},
                                             {"avg", Quantifier::kAvg},
                                             {"median", Quantifier::kMedian}};
constexpr Word<Measure> kMeasures[] = {
    {"kernels", Measure::kKernels},     {"launches", Measure::kLaunches},
    {"gemm", Measure::kGemm},           {"pointwise", Measure::kPointwise},
    {"reduction", Measure::kReduction}, {"memcpy", Measure::kMemcpy},
    {"memset", Measure::kMemset},       {"syncs", Measure::kSyncs},
    {"gpu_time", Measure::kGpuTime},    {"cpu_time", Measure::kCpuTime},
    {"busy", Measure::kBusy},           {"idle", Measure::kIdle},
    {"bytes", Measure::kBytes},         {"count", Measure::kCount}};
constexpr Word<Measure> kRankMeasures[] = {{"skew", Measure::kSkew},
                                           {"wait", Measure::kWait},
                                           {"deviation", Measure::kDeviation},
                                           {"stragglers", Measure::kStragglers}};
constexpr Word<Cmp> kCmps[] = {{"==", Cmp::kEqual},       {"!=", Cmp::kNotEqual},
                               {"<=", Cmp::kLessOrEqual}, {">=", Cmp::kMoreOrEqual},
                               {"<", Cmp::kLess},         {">", Cmp::kMore}};
constexpr Word<What> kWhats[] = {{"kernel", What::kKernel}, {"op", What::kOp},
                                 {"call", What::kCall},     {"memcpy", What::kMemcpy},
                                 {"memset", What::kMemset}, {"sync", What::kSync}};

struct UnitWord {
  std::string_view text;
  RuleUnit unit;
  double factor;
};
constexpr UnitWord kUnits[] = {
    {"ns", RuleUnit::kNanoseconds, 1},   {"us", RuleUnit::kNanoseconds, 1e3},
    {"ms", RuleUnit::kNanoseconds, 1e6}, {"s", RuleUnit::kNanoseconds, 1e9},
    {"%", RuleUnit::kShare, 0.01},       {"B", RuleUnit::kBytes, 1},
    {"kB", RuleUnit::kBytes, 1e3},       {"MB", RuleUnit::kBytes, 1e6},
    {"GB", RuleUnit::kBytes, 1e9}};

inline bool is_space(char c) { return c == ' ' || c == '\t'; }

template <typename T, size_t N>
const Word<T>* find(const Word<T> (&words)[N], std::string_view text) {
  for (const Word<T>& word : words) {
    if (word.text == text) return &word;
  }
  return nullptr;
}

template <typename T, size_t N>
std::string word_list(const Word<T> (&words)[N]) {
  std::vector<std::string_view> texts;
  for (const Word<T>& word : words) texts.push_back(word.text);
  return join(texts, ", ");
}

// The unit of a measure.
inline RuleUnit unit_of(Measure measure) {
  switch (measure) {
    case Measure::kGpuTime:
    case Measure::kCpuTime:
    case Measure::kIdle:
    case Measure::kSkew:
    case Measure::kWait:
      return RuleUnit::kNanoseconds;
    case Measure::kBytes:
      return RuleUnit::kBytes;
    case Measure::kBusy:
    case Measure::kDeviation:
      return RuleUnit::kShare;
    default:
      return RuleUnit::kCount;
  }
}

inline const char* unit_hint(RuleUnit unit) {
  switch (unit) {
    case RuleUnit::kNanoseconds:
      return "a time: ns, us, ms or s";
    case RuleUnit::kBytes:
      return "bytes: B, kB, MB or GB";
    case RuleUnit::kShare:
      return "a share: %";
    case RuleUnit::kCount:
      return "a count: no unit";
  }
  return "";
}

// 516.103 us are 516103 ns, which a floating-point multiplication misses. Rounds to a thousandth of
// the unit.
inline double scaled(double number, double factor) {
  return factor < 1 ? number * factor : std::round(number * factor * 1e3) / 1e3;
}

}  // namespace epi::analysis::rule_words
