// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/straggler_cause.h"

#include <algorithm>
#include <map>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

// What a rank did longer than the median of the others before one collective.
struct Excess {
  double late_ns = 0;  // how much later it arrived
  std::array<double, kBetweens> ns{};
};

// None if a file lacks the preceding collective: the time before is then longer.
std::optional<Excess> excess_of(const ComparedCollective& one, size_t own,
                                const MatchNumbers& numbers) {
  const auto preceding = [&](size_t member) -> int64_t {
    const int32_t at = one.match().at[member];
    return at == 0 ? -1 : numbers[one.group->members[member]][static_cast<size_t>(at - 1)];
  };
  if (preceding(own) < 0) return std::nullopt;
  std::vector<double> durations;
  std::array<std::vector<double>, kBetweens> others;
  for (size_t member = 0; member < one.members.size(); ++member) {
    if (member == own || preceding(member) != preceding(own)) continue;
    durations.push_back(duration_ns(*one.members[member]));
    for (size_t kind = 0; kind < kBetweens; ++kind) {
      others[kind].push_back(static_cast<double>(one.members[member]->before[kind]));
    }
  }
  if (durations.empty()) return std::nullopt;
  Excess excess;
  excess.late_ns = median(std::move(durations)) - duration_ns(*one.members[own]);
  for (size_t kind = 0; kind < kBetweens; ++kind) {
    excess.ns[kind] =
        static_cast<double>(one.members[own]->before[kind]) - median(std::move(others[kind]));
  }
  return excess;
}

// Which kernel or host event took longer on the straggler than on the median rank. Files may have
// different lengths, so times are per recorded collective.
void find_name(const std::vector<RankData>& ranks, Straggler& straggler) {
  const auto per_collective = [](const RankData& rank, const RankActivity& activity) {
    return static_cast<double>(activity.ns) /
           static_cast<double>(std::max<int64_t>(rank.recorded_collectives, 1));
  };
  std::map<std::string, std::vector<double>> times;  // of the other ranks, by name
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank == straggler.rank) continue;
    for (const RankActivity& activity : ranks[rank].activities) {
      if (activity.kind != *straggler.cause) continue;
      times[activity.name].push_back(per_collective(ranks[rank], activity));
    }
  }
  const RankData& own = ranks[straggler.rank];
  double most = straggler.cause_ns / static_cast<double>(straggler.of) / 2;
  for (const RankActivity& activity : own.activities) {
    if (activity.kind != *straggler.cause) continue;
    std::vector<double> others = times[activity.name];
    others.resize(ranks.size() - 1);  // zero on ranks without it
    const double excess = per_collective(own, activity) - median(std::move(others));
    if (excess < most) continue;
    most = excess;
    straggler.name = activity.name;
  }
}

}  // namespace

MatchNumbers match_numbers(const std::vector<RankData>& ranks,
                           const std::vector<MatchedGroup>& groups) {
  MatchNumbers numbers;
  for (const RankData& rank : ranks) numbers.emplace_back(rank.collectives.size(), -1);
  int64_t number = 0;
  for (const MatchedGroup& group : groups) {
    for (const Match& match : group.matches) {
      for (size_t member = 0; member < group.members.size(); ++member) {
        if (match.at[member] < 0) continue;
        numbers[group.members[member]][static_cast<size_t>(match.at[member])] = number;
      }
      ++number;
    }
  }
  return numbers;
}

// Over all collectives: those in which it was last alone would count its jitter as a cause.
void find_cause(const std::vector<RankData>& ranks, const std::vector<ComparedCollective>& compared,
                const MatchNumbers& numbers, Straggler& straggler) {
  int64_t count = 0;
  Excess sum;
  for (const ComparedCollective& one : compared) {
    const auto& members = one.group->members;
    const auto found = std::find(members.begin(), members.end(), straggler.rank);
    if (found == members.end()) continue;
    const auto excess = excess_of(one, static_cast<size_t>(found - members.begin()), numbers);
    if (!excess) continue;
    ++count;
    sum.late_ns += excess->late_ns;
    for (size_t kind = 0; kind < kBetweens; ++kind) sum.ns[kind] += excess->ns[kind];
  }
  const auto most = std::max_element(sum.ns.begin(), sum.ns.end());
  if (sum.late_ns <= 0 || *most < sum.late_ns / 2) return;
  straggler.cause = static_cast<Between>(most - sum.ns.begin());
  straggler.cause_ns = *most * static_cast<double>(straggler.of) / static_cast<double>(count);
  find_name(ranks, straggler);
}

}  // namespace epi::analysis
