// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect/rank_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "epilogue/analysis/index/statistics.h"
#include "epilogue/base/join.h"

namespace epi::analysis {
namespace {

struct RankValue {
  std::string instance;
  double value;
};

std::vector<RankValue> of_collectives(const Ranks& ranks, Measure measure) {
  std::vector<RankValue> values;
  for (const ComparedCollective& one : compared_collectives(ranks.ranks, ranks.groups)) {
    const double ns = measure == Measure::kSkew ? one.skew_ns : one.wait_ns;
    const std::string& group = one.group->group.name;
    values.push_back({fmt::format("{} {}{}", one.kind, one.position,
                                  group.empty() ? "" : fmt::format(" of group {}", group)),
                      ns <= ranks.noise_ns ? 0 : ns});
  }
  return values;
}

std::string name_of(const RankData& rank) {
  return rank.has_rank ? fmt::format("rank {}", rank.rank)
                       : std::filesystem::path(rank.file).filename().string();
}

std::vector<RankValue> deviations(const Ranks& ranks) {
  const double typical = median_step_ns(ranks.ranks);
  std::vector<RankValue> values;
  for (const RankData& rank : ranks.ranks) {
    const double step = times_of(rank).step_ns;
    if (step > 0) values.push_back({name_of(rank), std::abs(step / typical - 1)});
  }
  return values;
}

// Nobody can be named if nothing is compared.
std::vector<RankValue> stragglers(const Ranks& ranks) {
  if (ranks.arrivals.compared == 0) return {};
  std::vector<std::string> names;
  for (const Straggler& one : ranks.arrivals.stragglers)
    names.push_back(name_of(ranks.ranks[one.rank]));
  return {{join(names, ", "), static_cast<double>(names.size())}};
}

std::vector<RankValue> values_of(const Ranks& ranks, Measure measure) {
  switch (measure) {
    case Measure::kSkew:
    case Measure::kWait:
      return of_collectives(ranks, measure);
    case Measure::kDeviation:
      return deviations(ranks);
    default:
      return stragglers(ranks);
  }
}

void check_aggregate(const std::vector<RankValue>& values, RuleResult& result) {
  std::vector<double> numbers;
  double sum = 0;
  for (const RankValue& one : values) {
    numbers.push_back(one.value);
    sum += one.value;
  }
  const bool use_median = result.rule.quantifier == Quantifier::kMedian;
  result.found = use_median ? median(std::move(numbers)) : sum / static_cast<double>(values.size());
  result.ok = holds(result.rule.cmp, *result.found, result.rule.value);
  if (!result.ok) result.broken.push_back({"", std::nullopt, result.found, {}});
}

void check_each(const std::vector<RankValue>& values, RuleResult& result) {
  const Rule& rule = result.rule;
  for (const RankValue& one : values) {
    if (holds(rule.cmp, one.value, rule.value)) continue;
    result.broken.push_back({one.instance, std::nullopt, one.value, {}});
  }
  result.ok = rule.quantifier == Quantifier::kAny ? result.broken.size() < values.size()
                                                  : result.broken.empty();
  if (result.ok) {
    result.broken.clear();
    // The value that is closest to breaking the rule. For `any`, the one that holds most clearly.
    const bool below = rule.cmp == Cmp::kLess || rule.cmp == Cmp::kLessOrEqual;
    const bool is_any = rule.quantifier == Quantifier::kAny;
    result.found = below != is_any ? result.found_max : result.found_min;
    return;
  }
  // The worst first.
  std::stable_sort(result.broken.begin(), result.broken.end(), [&](const auto& a, const auto& b) {
    return std::abs(*a.found - rule.value) > std::abs(*b.found - rule.value);
  });
  result.found = result.broken.front().found;
}

}  // namespace

RuleResult check_rank_rule(const Ranks& ranks, const Rule& rule) {
  RuleResult result;
  result.rule = rule;
  const std::vector<RankValue> values = values_of(ranks, rule.measure);
  result.instances = static_cast<int64_t>(values.size());
  if (values.empty()) {
    result.note = RuleNote::kNotCompared;
    return result;
  }
  const auto [least, most] = std::minmax_element(
      values.begin(), values.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  result.found_min = least->value;
  result.found_max = most->value;
  if (rule.quantifier == Quantifier::kAvg || rule.quantifier == Quantifier::kMedian) {
    check_aggregate(values, result);
  } else {
    check_each(values, result);
  }
  return result;
}

}  // namespace epi::analysis
