// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "epilogue/analysis/index/statistics.h"

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

const RankCollective& collective_of(const std::vector<RankData>& ranks, const MatchedGroup& group,
                                    const Match& match, size_t member) {
  return ranks[group.members[member]].collectives[static_cast<size_t>(match.at[member])];
}

std::vector<double> durations_of(const std::vector<RankData>& ranks, const MatchedGroup& group,
                                 const Match& match) {
  std::vector<double> durations;
  for (size_t member = 0; member < group.members.size(); ++member) {
    const Interval& when = collective_of(ranks, group, match, member).when;
    durations.push_back(static_cast<double>(when.end - when.begin));
  }
  return durations;
}

// The shortest of at least two durations, and the others.
struct Last {
  size_t member;
  double ns;
  std::vector<double> others;

  double wait_ns() const { return median(others) - ns; }
};
Last last_of(std::vector<double> durations) {
  const auto shortest = std::min_element(durations.begin(), durations.end());
  Last last{static_cast<size_t>(shortest - durations.begin()), *shortest, {}};
  durations.erase(shortest);
  last.others = std::move(durations);
  return last;
}

// A compared collective, and who arrived last.
struct Compared {
  const MatchedGroup* group;
  const Match* match;
  Last last;
  bool has_last;  // a single member, by more than the noise
};

std::vector<Compared> compare(const std::vector<RankData>& ranks,
                              const std::vector<MatchedGroup>& groups, double noise_ns) {
  std::vector<Compared> result;
  for (const MatchedGroup& group : groups) {
    if (!group.is_complete || !group.is_matched) continue;
    for (const Match& match : group.matches) {
      if (!match.is_complete()) continue;
      Last last = last_of(durations_of(ranks, group, match));
      const bool is_single =
          std::find(last.others.begin(), last.others.end(), last.ns) == last.others.end();
      const bool has_last = is_single && last.wait_ns() > noise_ns;
      result.push_back({&group, &match, std::move(last), has_last});
    }
  }
  return result;
}

// For each collective of each rank, the number of its match; -1 if it has none.
std::vector<std::vector<int64_t>> numbers_of(const std::vector<RankData>& ranks,
                                             const std::vector<MatchedGroup>& groups) {
  std::vector<std::vector<int64_t>> numbers;
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

// What the straggler did longer than the median of the others since the preceding collective, over
// all collectives: those in which it was last alone would count its jitter as a cause.
void find_cause(const std::vector<RankData>& ranks, const std::vector<Compared>& compared,
                const std::vector<std::vector<int64_t>>& numbers, Straggler& straggler) {
  double late_ns = 0;
  int64_t count = 0;
  std::array<double, kBetweens> excess{};
  for (const Compared& one : compared) {
    const auto& members = one.group->members;
    const auto found = std::find(members.begin(), members.end(), straggler.rank);
    if (found == members.end()) continue;
    const auto own_member = static_cast<size_t>(found - members.begin());
    // Files may lack the preceding collective. Then the time before is longer.
    const auto before = [&](size_t member) -> int64_t {
      const int32_t at = one.match->at[member];
      return at == 0 ? -1 : numbers[members[member]][static_cast<size_t>(at - 1)];
    };
    const int64_t preceding = before(own_member);
    if (preceding < 0) continue;
    std::array<std::vector<double>, kBetweens> others;
    std::vector<double> durations;
    for (size_t member = 0; member < members.size(); ++member) {
      if (member == own_member || before(member) != preceding) continue;
      const RankCollective& other = collective_of(ranks, *one.group, *one.match, member);
      durations.push_back(static_cast<double>(other.when.end - other.when.begin));
      for (size_t kind = 0; kind < kBetweens; ++kind) {
        others[kind].push_back(static_cast<double>(other.before[kind]));
      }
    }
    if (durations.empty()) continue;
    const RankCollective& own = collective_of(ranks, *one.group, *one.match, own_member);
    ++count;
    late_ns += median(std::move(durations)) - static_cast<double>(own.when.end - own.when.begin);
    for (size_t kind = 0; kind < kBetweens; ++kind) {
      excess[kind] += static_cast<double>(own.before[kind]) - median(std::move(others[kind]));
    }
  }
  const auto most = std::max_element(excess.begin(), excess.end());
  if (late_ns <= 0 || *most < late_ns / 2) return;
  straggler.cause = static_cast<Between>(most - excess.begin());
  straggler.cause_ns = *most * static_cast<double>(straggler.of) / static_cast<double>(count);
}

// Which kernel or host event took longer on the straggler than on the median rank. Files may have
// different lengths, so times are per recorded collective.
void find_name(const std::vector<RankData>& ranks, Straggler& straggler) {
  if (!straggler.cause) return;
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

// The number of a rank's steps in which collectives are compared, at least one.
int64_t compared_steps(const std::vector<RankData>& ranks, const std::vector<MatchedGroup>& groups,
                       size_t rank) {
  const std::vector<RankStep>& steps = ranks[rank].steps;
  std::vector<bool> is_compared(steps.size(), false);
  for (const MatchedGroup& group : groups) {
    const auto member = std::find(group.members.begin(), group.members.end(), rank);
    if (!group.is_complete || !group.is_matched || member == group.members.end()) continue;
    for (const Match& match : group.matches) {
      if (!match.is_complete()) continue;
      const auto place = static_cast<size_t>(member - group.members.begin());
      const int64_t begin = collective_of(ranks, group, match, place).when.begin;
      const auto after =
          std::upper_bound(steps.begin(), steps.end(), begin,
                           [](int64_t ns, const RankStep& step) { return ns < step.when.begin; });
      if (after != steps.begin())
        is_compared[static_cast<size_t>(after - steps.begin() - 1)] = true;
    }
  }
  return std::max<int64_t>(1, std::count(is_compared.begin(), is_compared.end(), true));
}

// Means over the collectives of one kind.
class KindSum {
 public:
  void add(const std::vector<RankData>& ranks, const MatchedGroup& group, const Match& match,
           const std::string& kind) {
    std::vector<double> durations = durations_of(ranks, group, match);
    double bytes = 0;  // mean over ranks: an all-to-all may be uneven
    for (size_t member = 0; member < durations.size(); ++member) {
      const int64_t one = collective_of(ranks, group, match, member).bytes;
      if (one < 0) has_bytes_ = false;
      bytes +=
          static_cast<double>(std::max<int64_t>(one, 0)) / static_cast<double>(durations.size());
    }
    time_ns_ += median(durations);
    const double longest = *std::max_element(durations.begin(), durations.end());
    const Last last = last_of(std::move(durations));
    ++count_;
    bytes_ += bytes;
    link_bytes_ += bytes * bus_factor(kind, static_cast<double>(group.members.size()));
    skew_ns_ += longest - last.ns;
    wait_ns_ += last.wait_ns();
    transfer_ns_ += last.ns;
  }
  CollectiveKind result(std::string kind, const ProcessGroup& group) const {
    const auto count = static_cast<double>(count_);
    CollectiveKind result{std::move(kind),
                          group,
                          count_,
                          std::nullopt,
                          time_ns_ / count,
                          wait_ns_ / count,
                          transfer_ns_ / count,
                          skew_ns_ / count,
                          {},
                          {}};
    if (!has_bytes_) return result;
    result.bytes = bytes_ / count;
    if (transfer_ns_ <= 0) return result;
    result.algorithm_rate = bytes_ / transfer_ns_;
    result.bus_rate = link_bytes_ / transfer_ns_;
    return result;
  }

 private:
  int64_t count_ = 0;
  bool has_bytes_ = true;
  double bytes_ = 0, link_bytes_ = 0, time_ns_ = 0, wait_ns_ = 0, transfer_ns_ = 0, skew_ns_ = 0;
};

// A kind whose collectives are not compared, per rank.
struct Alone {
  double count = 0;
  double ns = 0;
  double bytes = 0;
  bool has_bytes = true;
};

CollectiveKind summary_of(const std::string& kind, const ProcessGroup& group,
                          const std::map<size_t, Alone>& ranks) {
  std::vector<double> counts;
  std::vector<double> times;
  std::vector<double> bytes;
  for (const auto& [rank, one] : ranks) {
    counts.push_back(one.count);
    times.push_back(one.ns / one.count);
    if (one.has_bytes) bytes.push_back(one.bytes / one.count);
  }
  CollectiveKind result;
  result.kind = kind;
  result.group = group;
  result.count = static_cast<int64_t>(median(std::move(counts)));
  result.time_ns = median(std::move(times));
  if (bytes.size() == ranks.size()) result.bytes = median(std::move(bytes));
  return result;
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
  const std::vector<Compared> compared = compare(ranks, groups, noise_ns);
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
  for (const Compared& one : compared) {
    for (const size_t rank : one.group->members) {
      ++taken_part[rank];
      expected[rank] += 1 / static_cast<double>(one.group->members.size());
    }
    if (!one.has_last) continue;
    const size_t rank = one.group->members[one.last.member];
    ++result.last[rank];
    result.wait_ns[rank] += one.last.wait_ns();
    alone_ns[rank] +=
        *std::min_element(one.last.others.begin(), one.last.others.end()) - one.last.ns;
  }
  const auto numbers = numbers_of(ranks, groups);
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
    straggler.steps = compared_steps(ranks, groups, rank);
    straggler.wait_ns = result.wait_ns[rank];
    straggler.alone_ns = alone_ns[rank];
    find_cause(ranks, compared, numbers, straggler);
    find_name(ranks, straggler);
    result.stragglers.push_back(std::move(straggler));
    result.reason = NoStraggler::kNamed;
  }
  std::stable_sort(result.stragglers.begin(), result.stragglers.end(),
                   [](const Straggler& a, const Straggler& b) { return a.wait_ns > b.wait_ns; });
  return result;
}

std::vector<ComparedCollective> compared_collectives(const std::vector<RankData>& ranks,
                                                     const std::vector<MatchedGroup>& groups) {
  std::vector<ComparedCollective> result;
  for (const MatchedGroup& group : groups) {
    if (!group.is_complete || !group.is_matched) continue;
    for (size_t i = 0; i < group.matches.size(); ++i) {
      const Match& match = group.matches[i];
      if (!match.is_complete()) continue;
      const std::vector<double> durations = durations_of(ranks, group, match);
      const Last last = last_of(durations);
      const double longest = *std::max_element(durations.begin(), durations.end());
      const RankData& first = ranks[group.members[0]];
      result.push_back({&group, first.kinds[collective_of(ranks, group, match, 0).kind],
                        static_cast<int64_t>(i), longest - last.ns, last.wait_ns()});
    }
  }
  return result;
}

std::vector<CollectiveKind> collective_kinds(const std::vector<RankData>& ranks,
                                             const std::vector<MatchedGroup>& groups) {
  using Key = std::pair<size_t, std::string>;  // group and kind
  std::map<Key, KindSum> compared;
  std::vector<std::vector<size_t>> group_of(ranks.size());  // per rank, by its own place
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    group_of[rank].resize(ranks[rank].groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    const MatchedGroup& group = groups[i];
    for (size_t member = 0; member < group.members.size(); ++member) {
      group_of[group.members[member]][group.places[member]] = i;
    }
    if (!group.is_complete || !group.is_matched) continue;
    for (const Match& match : group.matches) {
      if (!match.is_complete()) continue;
      const RankData& first = ranks[group.members[0]];
      const std::string& kind = first.kinds[collective_of(ranks, group, match, 0).kind];
      compared[{i, kind}].add(ranks, group, match, kind);
    }
  }
  std::map<Key, std::map<size_t, Alone>> others;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const RankCollective& one : ranks[rank].collectives) {
      const Key key{group_of[rank][one.group], ranks[rank].kinds[one.kind]};
      if (compared.contains(key)) continue;
      Alone& alone = others[key][rank];
      ++alone.count;
      alone.ns += static_cast<double>(one.when.end - one.when.begin);
      alone.bytes += static_cast<double>(one.bytes);
      alone.has_bytes = alone.has_bytes && one.bytes >= 0;
    }
  }
  std::vector<CollectiveKind> kinds;
  for (const auto& [key, sum] : compared) {
    kinds.push_back(sum.result(key.second, groups[key.first].group));
  }
  for (const auto& [key, alone] : others) {
    kinds.push_back(summary_of(key.second, groups[key.first].group, alone));
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return static_cast<double>(a.count) * a.time_ns > static_cast<double>(b.count) * b.time_ns;
  });
  return kinds;
}

}  // namespace epi::analysis
