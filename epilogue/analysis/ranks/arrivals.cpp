// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/arrivals.h"

#include <algorithm>
#include <cmath>

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

bool is_point_to_point(const std::string& kind) {
  return kind == "send" || kind == "recv" || kind == "send_recv";
}

// The rank with the shortest kernel, if it is only one.
std::optional<size_t> last_rank(const std::vector<std::vector<CollectiveTime>>& ranks, size_t at) {
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

}  // namespace

std::vector<CollectiveTime> collective_times(const TraceIndex& index) {
  std::vector<CollectiveTime> times;
  for (Collective& collective : collectives(index)) {
    if (is_point_to_point(collective.kind)) continue;
    times.push_back({std::move(collective.kind), std::move(collective.group),
                     index.trace.dur_ns[collective.kernel]});
  }
  return times;
}

Arrivals arrivals(const std::vector<std::vector<CollectiveTime>>& ranks) {
  Arrivals result;
  result.last.assign(ranks.size(), 0);
  if (ranks.size() < 2) return result;
  const auto equal = [](const CollectiveTime& a, const CollectiveTime& b) {
    return a.kind == b.kind && a.group == b.group;
  };
  const auto& first = ranks[0];
  result.match = std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) {
    return std::equal(rank.begin(), rank.end(), first.begin(), first.end(), equal);
  });
  if (!result.match) return result;
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

}  // namespace epi::analysis
