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

// A collective with a single member that arrived last.
struct Late {
  const MatchedGroup* group;
  const Match* match;
  size_t member;
  double wait_ns;  // of the median of the other members
};

std::optional<Late> last_of(const std::vector<RankData>& ranks, const MatchedGroup& group,
                            const Match& match, double noise_ns) {
  std::vector<double> durations = durations_of(ranks, group, match);
  const auto shortest = std::min_element(durations.begin(), durations.end());
  const double least = *shortest;
  const auto member = static_cast<size_t>(shortest - durations.begin());
  if (std::count(durations.begin(), durations.end(), least) > 1) return std::nullopt;
  durations.erase(shortest);
  const double wait_ns = median(std::move(durations)) - least;
  if (wait_ns <= noise_ns) return std::nullopt;
  return Late{&group, &match, member, wait_ns};
}

// What the straggler did longer than the median of the others before the collectives in which it
// arrived last.
void find_cause(const std::vector<RankData>& ranks, const std::vector<Late>& lates,
                Straggler& straggler) {
  std::array<double, kBetweens> excess{};
  for (const Late& late : lates) {
    if (late.group->members[late.member] != straggler.rank) continue;
    for (size_t kind = 0; kind < kBetweens; ++kind) {
      std::vector<double> others;
      for (size_t member = 0; member < late.group->members.size(); ++member) {
        if (member == late.member) continue;
        const auto& one = collective_of(ranks, *late.group, *late.match, member);
        others.push_back(static_cast<double>(one.before[kind]));
      }
      const auto& own = collective_of(ranks, *late.group, *late.match, late.member);
      excess[kind] += static_cast<double>(own.before[kind]) - median(std::move(others));
    }
  }
  const auto most = std::max_element(excess.begin(), excess.end());
  if (*most < straggler.wait_ns / 2) return;
  straggler.cause = static_cast<Between>(most - excess.begin());
  straggler.cause_ns = *most;
}

// Which kernel or host event took longer on the straggler than on the median rank.
void find_name(const std::vector<RankData>& ranks, Straggler& straggler) {
  if (!straggler.cause) return;
  std::map<std::string, std::vector<double>> times;  // of the other ranks, by name
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank == straggler.rank) continue;
    for (const RankActivity& time : ranks[rank].activities) {
      if (time.kind == *straggler.cause) times[time.name].push_back(static_cast<double>(time.ns));
    }
  }
  double most = straggler.cause_ns / 2;
  for (const RankActivity& time : ranks[straggler.rank].activities) {
    if (time.kind != *straggler.cause) continue;
    std::vector<double> others = times[time.name];
    others.resize(ranks.size() - 1);  // zero on ranks without it
    const double excess = static_cast<double>(time.ns) - median(std::move(others));
    if (excess < most) continue;
    most = excess;
    straggler.name = time.name;
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
    const auto [shortest, longest] = std::minmax_element(durations.begin(), durations.end());
    const double transfer = *shortest;
    skew_ns_ += *longest - *shortest;
    const double middle = median(std::move(durations));
    ++count_;
    bytes_ += bytes;
    link_bytes_ += bytes * bus_factor(kind, static_cast<double>(group.members.size()));
    time_ns_ += middle;
    wait_ns_ += middle - transfer;
    transfer_ns_ += transfer;
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

// A kind whose collectives are not compared: medians over the members.
CollectiveKind alone(const std::vector<RankData>& ranks, const MatchedGroup& group,
                     const std::string& kind) {
  std::vector<double> counts;
  std::vector<double> means;
  std::vector<double> bytes;
  for (const size_t rank : group.members) {
    double count = 0, ns = 0, sum = 0;
    for (const RankCollective& one : ranks[rank].collectives) {
      if (ranks[rank].kinds[one.kind] != kind || !(ranks[rank].groups[one.group] == group.group))
        continue;
      ++count;
      ns += static_cast<double>(one.when.end - one.when.begin);
      sum = one.bytes < 0 ? -1e300 : sum + static_cast<double>(one.bytes);
    }
    if (count == 0) continue;
    counts.push_back(count);
    means.push_back(ns / count);
    bytes.push_back(sum / count);
  }
  CollectiveKind result;
  result.kind = kind;
  result.group = group.group;
  result.count = static_cast<int64_t>(median(std::move(counts)));
  result.time_ns = median(std::move(means));
  if (std::all_of(bytes.begin(), bytes.end(), [](double one) { return one >= 0; })) {
    result.bytes = median(std::move(bytes));
  }
  return result;
}

}  // namespace

Arrivals arrivals(const std::vector<RankData>& ranks, const std::vector<MatchedGroup>& groups,
                  double noise_ns) {
  Arrivals result;
  result.last.assign(ranks.size(), 0);
  std::vector<int64_t> taken_part(ranks.size(), 0);
  std::vector<double> expected(ranks.size(), 0);  // how often it is last by chance
  std::vector<Late> lates;
  for (const MatchedGroup& group : groups) {
    if (!group.is_complete || !group.is_matched) continue;
    for (const Match& match : group.matches) {
      if (!match.is_complete()) {
        ++result.not_compared;
        continue;
      }
      ++result.compared;
      for (const size_t rank : group.members) {
        ++taken_part[rank];
        expected[rank] += 1 / static_cast<double>(group.members.size());
      }
      const auto late = last_of(ranks, group, match, noise_ns);
      if (!late) continue;
      ++result.last[group.members[late->member]];
      lates.push_back(*late);
    }
  }
  if (result.compared == 0) {
    for (const MatchedGroup& group : groups) {
      if (group.collectives == 0 || result.reason == NoStraggler::kRanksMissing) continue;
      result.reason = group.is_complete ? NoStraggler::kDifferent : NoStraggler::kRanksMissing;
    }
    return result;
  }
  result.reason = NoStraggler::kChance;
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
    for (const Late& late : lates) {
      if (late.group->members[late.member] == rank) straggler.wait_ns += late.wait_ns;
    }
    find_cause(ranks, lates, straggler);
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
      std::vector<double> durations = durations_of(ranks, group, match);
      const auto [shortest, longest] = std::minmax_element(durations.begin(), durations.end());
      const double least = *shortest;
      const double skew = *longest - least;
      const RankData& first = ranks[group.members[0]];
      result.push_back({&group, first.kinds[collective_of(ranks, group, match, 0).kind],
                        static_cast<int64_t>(i), skew, median(std::move(durations)) - least});
    }
  }
  return result;
}

std::vector<CollectiveKind> collective_kinds(const std::vector<RankData>& ranks,
                                             const std::vector<MatchedGroup>& groups) {
  std::vector<CollectiveKind> kinds;
  for (const MatchedGroup& group : groups) {
    std::map<std::string, KindSum> compared;
    if (group.is_complete && group.is_matched) {
      for (const Match& match : group.matches) {
        if (!match.is_complete()) continue;
        const RankData& first = ranks[group.members[0]];
        const std::string& kind = first.kinds[collective_of(ranks, group, match, 0).kind];
        compared[kind].add(ranks, group, match, kind);
      }
    }
    for (const auto& [kind, sum] : compared) kinds.push_back(sum.result(kind, group.group));
    std::vector<std::string> others;
    for (const size_t rank : group.members) {
      for (const RankCollective& one : ranks[rank].collectives) {
        const std::string& kind = ranks[rank].kinds[one.kind];
        if (!(ranks[rank].groups[one.group] == group.group) || compared.contains(kind)) continue;
        if (std::find(others.begin(), others.end(), kind) == others.end()) others.push_back(kind);
      }
    }
    for (const std::string& kind : others) kinds.push_back(alone(ranks, group, kind));
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return static_cast<double>(a.count) * a.time_ns > static_cast<double>(b.count) * b.time_ns;
  });
  return kinds;
}

}  // namespace epi::analysis
