// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/communication.h"

#include <algorithm>
#include <map>
#include <optional>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

constexpr double kMinShare = 0.01;  // of a step

// Of one kind in one group.
struct Transfers {
  std::vector<double> bytes;
  std::vector<double> ns;
  double exposed_ns = 0;  // of the median rank, sum
};

using KindOfGroup = std::pair<size_t, std::string>;  // the place of the group, and the kind

std::map<KindOfGroup, Transfers> transfers_of(const Ranks& ranks) {
  std::map<KindOfGroup, Transfers> result;
  for (const ComparedCollective& one : compared_collectives(ranks.ranks, ranks.groups)) {
    std::vector<double> exposed;
    double bytes = 0;
    for (const RankCollective* member : one.members) {
      exposed.push_back(static_cast<double>(member->exposed_ns));
      bytes = member->bytes < 0 ? -1e300 : bytes + static_cast<double>(member->bytes);
    }
    Transfers& transfers = result[{one.group_place, one.kind}];
    transfers.bytes.push_back(bytes / static_cast<double>(one.members.size()));
    transfers.ns.push_back(one.transfer_ns);
    transfers.exposed_ns += median(std::move(exposed));
  }
  return result;
}

// The time of a transfer that does not depend on its size: the intercept of a line. None if sizes
// do not differ enough to separate it.
std::optional<double> fixed_ns(const Transfers& transfers) {
  constexpr size_t kMaxPoints = 200;
  const auto [least, most] = std::minmax_element(transfers.bytes.begin(), transfers.bytes.end());
  if (transfers.bytes.size() < 4 || *least < 0 || *most < 2 * *least) return std::nullopt;
  const size_t step = (transfers.bytes.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<double> slopes;
  for (size_t i = 0; i < transfers.bytes.size(); i += step) {
    for (size_t j = i + step; j < transfers.bytes.size(); j += step) {
      const double distance = transfers.bytes[j] - transfers.bytes[i];
      if (distance != 0) slopes.push_back((transfers.ns[j] - transfers.ns[i]) / distance);
    }
  }
  const double slope = std::max(0.0, median(std::move(slopes)));
  std::vector<double> rests;
  for (size_t i = 0; i < transfers.bytes.size(); ++i) {
    rests.push_back(transfers.ns[i] - slope * transfers.bytes[i]);
  }
  return std::max(0.0, median(std::move(rests)));
}

// Time beyond what the fastest tenth would take, of the transfers that are at least half as large
// as the largest: smaller ones are slower anyway.
double slow_ns(const Transfers& transfers) {
  constexpr size_t kMinTransfers = 10;
  const double largest = *std::max_element(transfers.bytes.begin(), transfers.bytes.end());
  std::vector<double> times;  // per byte
  for (size_t i = 0; i < transfers.bytes.size(); ++i) {
    if (transfers.bytes[i] > 0 && transfers.bytes[i] >= largest / 2) {
      times.push_back(transfers.ns[i] / transfers.bytes[i]);
    }
  }
  if (times.size() < kMinTransfers) return 0;
  std::sort(times.begin(), times.end());
  const double reference = percentile(times, 0.1);
  double sum = 0;
  for (size_t i = 0; i < transfers.bytes.size(); ++i) {
    if (transfers.bytes[i] < largest / 2) continue;
    sum += std::max(0.0, transfers.ns[i] - reference * transfers.bytes[i]);
  }
  return sum;
}

}  // namespace

std::vector<CommunicationAdvice> communication_advice(const Ranks& ranks) {
  std::vector<double> step_counts;
  std::vector<double> free_compute;  // that no communication overlaps
  for (const RankData& rank : ranks.ranks) {
    if (rank.steps.empty()) continue;
    const RankTimes times = times_of(rank);
    step_counts.push_back(static_cast<double>(rank.steps.size()));
    free_compute.push_back(std::max(0.0, times.compute_ns - times.hidden_ns));
  }
  const double steps = std::max(1.0, median(std::move(step_counts)));
  const double step_ns = median_step_ns(ranks.ranks);
  const double free_ns = median(std::move(free_compute));
  std::vector<CommunicationAdvice> advice;
  const auto add = [&](CommunicationRemedy remedy, const KindOfGroup& of, double at_most_ns) {
    if (at_most_ns < kMinShare * step_ns || at_most_ns <= 0) return;
    advice.push_back({remedy, 0, of.second, ranks.groups[of.first].group, at_most_ns});
  };
  for (const auto& [of, transfers] : transfers_of(ranks)) {
    add(CommunicationRemedy::kOverlap, of, std::min(transfers.exposed_ns / steps, free_ns));
    const double per_step = static_cast<double>(transfers.ns.size()) / steps;
    if (const auto fixed = fixed_ns(transfers)) {
      add(CommunicationRemedy::kBucket, of, std::max(0.0, per_step - 1) * *fixed);
    }
    add(CommunicationRemedy::kBandwidth, of, slow_ns(transfers) / steps);
  }
  for (const Straggler& one : ranks.arrivals.stragglers) {
    const double at_most = one.alone_ns / static_cast<double>(one.steps);
    if (at_most < kMinShare * step_ns) continue;
    advice.push_back({CommunicationRemedy::kArriveTogether, one.rank, "", {}, at_most});
  }
  std::stable_sort(advice.begin(), advice.end(),
                   [](const auto& a, const auto& b) { return a.at_most_ns > b.at_most_ns; });
  return advice;
}

}  // namespace epi::analysis
