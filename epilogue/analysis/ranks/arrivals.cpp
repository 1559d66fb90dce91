// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/arrivals.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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

bool waits_for_all(const std::string& kind) {
  return kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" ||
         kind == "all_to_all" || kind == "barrier";
}

using Ranks = std::vector<std::vector<CollectiveTime>>;

// Groups of several ranks may share a name, so only those of all ranks can be compared.
Ranks of_all_ranks(const Ranks& ranks) {
  Ranks result(ranks.size());
  const auto count = static_cast<int64_t>(ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::copy_if(ranks[rank].begin(), ranks[rank].end(), std::back_inserter(result[rank]),
                 [&](const CollectiveTime& one) {
                   return one.ranks == count || (one.ranks == 0 && one.group.empty());
                 });
  }
  return result;
}

int64_t count_of(const Ranks& ranks) {
  size_t count = 0;
  for (const auto& rank : ranks) count += rank.size();
  return static_cast<int64_t>(count);
}

// The rank with the shortest kernel, if it is only one.
std::optional<size_t> last_rank(const Ranks& ranks, size_t at) {
  std::optional<size_t> last;
  bool tied = false;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const int64_t ns = ranks[rank][at].dur_ns;
    if (last && ns > ranks[*last][at].dur_ns) continue;
    tied = last && ns == ranks[*last][at].dur_ns;
    last = rank;
  }
  return tied ? std::nullopt : last;
}

// The size of the tensor that all ranks together have: an all-gather's output. Other collectives
// have it as their input.
std::optional<int64_t> whole_bytes(const Collective& collective, int64_t ranks) {
  if (collective.kind != "all_gather") return collective.in_bytes;
  if (collective.out_bytes) return collective.out_bytes;
  int64_t bytes = 0;
  if (!collective.in_bytes || ranks == 0) return std::nullopt;
  if (__builtin_mul_overflow(*collective.in_bytes, ranks, &bytes)) return std::nullopt;
  return bytes;
}

// What each link carries, relative to the bytes of the tensor (nccl-tests, PERFORMANCE.md).
double bus_factor(const std::string& kind, double ranks) {
  if (kind == "all_reduce") return 2 * (ranks - 1) / ranks;
  const bool is_split = kind == "all_gather" || kind == "reduce_scatter" || kind == "all_to_all";
  return is_split ? (ranks - 1) / ranks : 1;
}

bool have_same_collectives(const Ranks& ranks) {
  const auto equal = [](const CollectiveTime& a, const CollectiveTime& b) {
    return a.kind == b.kind && a.group == b.group;
  };
  return ranks.size() >= 2 && std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) {
           return std::equal(rank.begin(), rank.end(), ranks[0].begin(), ranks[0].end(), equal);
         });
}

}  // namespace

std::vector<CollectiveTime> collective_times(const TraceIndex& index, int64_t world_size) {
  std::vector<CollectiveTime> times;
  for (Collective& collective : collectives(index)) {
    if (!waits_for_all(collective.kind)) continue;
    CollectiveTime time;
    time.dur_ns = index.trace.dur_ns[collective.kernel];
    time.ranks = collective.group_size.value_or(
        collective.group.empty() ? std::max<int64_t>(world_size, 0) : 0);
    time.bytes = whole_bytes(collective, time.ranks);
    time.kind = std::move(collective.kind);
    time.group = std::move(collective.group);
    times.push_back(std::move(time));
  }
  return times;
}

Arrivals arrivals(const Ranks& all) {
  const Ranks ranks = of_all_ranks(all);
  Arrivals result;
  result.of_subgroups = count_of(all) - count_of(ranks);
  result.last.assign(ranks.size(), 0);
  result.match = have_same_collectives(ranks);
  if (!result.match) return result;
  const auto& first = ranks[0];
  result.collectives = static_cast<int64_t>(first.size());
  std::vector<std::optional<size_t>> last(first.size());
  for (size_t at = 0; at < first.size(); ++at) {
    last[at] = last_rank(ranks, at);
    if (last[at]) ++result.last[*last[at]];
  }
  const auto most = std::max_element(result.last.begin(), result.last.end());
  // The chance that any of the ranks is last this often, if each is equally likely to be last.
  constexpr double kUnlikely = 0.01;
  const auto count = static_cast<double>(ranks.size());
  if (*most == 0 || count * binomial_tail(*most, result.collectives, 1 / count) >= kUnlikely) {
    return result;
  }
  result.straggler = static_cast<size_t>(most - result.last.begin());
  for (size_t at = 0; at < first.size(); ++at) {
    if (last[at] != result.straggler) continue;
    std::vector<double> waits;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      if (rank == *result.straggler) continue;
      waits.push_back(
          static_cast<double>(ranks[rank][at].dur_ns - ranks[*result.straggler][at].dur_ns));
    }
    result.waited_ns += median(std::move(waits));
  }
  return result;
}

std::vector<CollectiveKind> collective_kinds(const Ranks& all) {
  const Ranks ranks = of_all_ranks(all);
  std::vector<CollectiveKind> kinds;
  if (!have_same_collectives(ranks)) return kinds;
  struct Rate {
    double bytes = 0, ns = 0;
    bool is_known = true;
  };
  std::vector<Rate> rates;  // per kind
  for (size_t at = 0; at < ranks[0].size(); ++at) {
    const CollectiveTime& any = ranks[0][at];
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const CollectiveKind& kind) {
      return kind.kind == any.kind && kind.group == any.group;
    });
    const auto place = static_cast<size_t>(found - kinds.begin());
    if (found == kinds.end()) {
      kinds.push_back({any.kind, any.group, 0, 0.0, 0, 0, {}});
      rates.emplace_back();
    }
    CollectiveKind& kind = kinds[place];
    Rate& rate = rates[place];
    std::vector<double> times;
    double bytes = 0;  // mean over ranks: an all-to-all may be uneven
    for (const auto& rank : ranks) {
      times.push_back(static_cast<double>(rank[at].dur_ns));
      if (!rank[at].bytes || rank[at].ranks == 0) rate.is_known = false;
      bytes += static_cast<double>(rank[at].bytes.value_or(0)) / static_cast<double>(ranks.size());
    }
    const double shortest = *std::min_element(times.begin(), times.end());
    ++kind.count;
    kind.transfer_ns += shortest;
    kind.wait_ns += median(std::move(times)) - shortest;
    rate.bytes +=
        bytes * (any.ranks == 0 ? 0 : bus_factor(any.kind, static_cast<double>(any.ranks)));
    rate.ns += shortest;
    *kind.bytes += bytes;
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto count = static_cast<double>(kinds[i].count);
    if (rates[i].is_known && rates[i].ns > 0) kinds[i].bus_rate = rates[i].bytes / rates[i].ns;
    kinds[i].bytes = rates[i].is_known ? std::optional(*kinds[i].bytes / count) : std::nullopt;
    kinds[i].transfer_ns /= count;
    kinds[i].wait_ns /= count;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const CollectiveKind& a, const CollectiveKind& b) {
                     const auto total = [](const CollectiveKind& kind) {
                       return static_cast<double>(kind.count) * (kind.transfer_ns + kind.wait_ns);
                     };
                     return total(a) > total(b);
                   });
  return kinds;
}

}  // namespace epi::analysis
