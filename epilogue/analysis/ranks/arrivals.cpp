// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/arrivals.h"

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/ranks/compared.h"
#include "epilogue/analysis/ranks/straggler_cause.h"

namespace epi::analysis {
namespace {

// The chance of at least `hits` hits in `trials` trials.
double binomial_tail(int64_t hits, int64_t trials, double chance) {
  double sum = 0;
  for (int64_t i = hits; i <= trials; ++i) {
    const auto n = static_cast<double>(trials);
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(chance) + (n - k) * std::log1p(-chance));
  }
  return sum;
}

// The number of a rank's steps in which collectives are compared, at least one.
int64_t compared_steps(const std::vector<RankStep>& steps,
                       const std::vector<ComparedCollective>& compared, size_t rank) {
  std::vector<int64_t> starts;  // windows of steps that overlap may start in any order
  for (const RankStep& step : steps) starts.push_back(step.when.begin);
  std::sort(starts.begin(), starts.end());
  std::vector<bool> is_compared(steps.size(), false);
  for (const ComparedCollective& one : compared) {
    const auto& members = one.group->members;
    const auto member = std::find(members.begin(), members.end(), rank);
    if (member == members.end()) continue;
    const int64_t begin = one.members[static_cast<size_t>(member - members.begin())]->when.begin;
    const auto after = std::upper_bound(starts.begin(), starts.end(), begin);
    if (after != starts.begin()) {
      is_compared[static_cast<size_t>(after - starts.begin() - 1)] = true;
    }
  }
  return std::max<int64_t>(1, std::count(is_compared.begin(), is_compared.end(), true));
}

// Why nothing is compared.
NoStraggler reason_of(const std::vector<MatchedGroup>& groups) {
  NoStraggler reason = NoStraggler::kNoCollectives;
  for (const MatchedGroup& group : groups) {
    if (group.collectives == 0) continue;
    if (group.is_ambiguous) {
      reason = NoStraggler::kUnknownGroups;
    } else if (!group.is_complete) {
      return NoStraggler::kRanksMissing;
    } else if (reason == NoStraggler::kNoCollectives) {
      reason = NoStraggler::kDifferent;
    }
  }
  return reason;
}

}  // namespace

Arrivals arrivals(const std::vector<RankData>& ranks, const std::vector<MatchedGroup>& groups,
                  double noise_ns) {
  Arrivals result;
  result.last.assign(ranks.size(), 0);
  result.wait_ns.assign(ranks.size(), 0);
  const std::vector<ComparedCollective> compared = compared_collectives(ranks, groups);
  result.compared = static_cast<int64_t>(compared.size());
  for (const MatchedGroup& group : groups) {
    if (!group.is_complete || !group.is_matched) continue;
    result.not_compared += std::count_if(group.matches.begin(), group.matches.end(),
                                         [](const Match& match) { return !match.is_complete(); });
  }
  if (compared.empty()) {
    result.reason = reason_of(groups);
    return result;
  }
  result.reason = NoStraggler::kChance;
  std::vector<int64_t> taken_part(ranks.size(), 0);
  std::vector<double> expected(ranks.size(), 0);  // how often it is last by chance
  std::vector<double> alone_ns(ranks.size(), 0);
  for (const ComparedCollective& one : compared) {
    for (const size_t rank : one.group->members) {
      ++taken_part[rank];
      expected[rank] += 1 / static_cast<double>(one.group->members.size());
    }
    if (one.alone_ns <= 0 || one.wait_ns <= noise_ns) continue;  // nobody is last
    const size_t rank = one.group->members[one.last];
    ++result.last[rank];
    result.wait_ns[rank] += one.wait_ns;
    alone_ns[rank] += one.alone_ns;
  }
  const MatchNumbers numbers = match_numbers(ranks, groups);
  // The chance that any of the ranks is last this often, if each is equally likely to be last.
  constexpr double kUnlikely = 0.01;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (result.last[rank] == 0) continue;
    const double chance = expected[rank] / static_cast<double>(taken_part[rank]);
    const double tail = binomial_tail(result.last[rank], taken_part[rank], chance);
    if (static_cast<double>(ranks.size()) * tail >= kUnlikely) continue;
    Straggler straggler;
    straggler.rank = rank;
    straggler.last = result.last[rank];
    straggler.of = taken_part[rank];
    straggler.steps = compared_steps(ranks[rank].steps, compared, rank);
    straggler.wait_ns = result.wait_ns[rank];
    straggler.alone_ns = alone_ns[rank];
    find_cause(ranks, compared, numbers, straggler);
    result.stragglers.push_back(std::move(straggler));
    result.reason = NoStraggler::kNamed;
  }
  std::stable_sort(result.stragglers.begin(), result.stragglers.end(),
                   [](const Straggler& a, const Straggler& b) { return a.wait_ns > b.wait_ns; });
  return result;
}

}  // namespace epi::analysis
