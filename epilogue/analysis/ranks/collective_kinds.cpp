// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/collective_kinds.h"

#include <algorithm>
#include <map>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

// Means over the compared collectives of one kind.
class KindSum {
 public:
  void add(const ComparedCollective& one) {
    double bytes = 0;  // mean over ranks: an all-to-all may be uneven
    const auto members = static_cast<double>(one.members.size());
    for (const RankCollective* member : one.members) {
      if (member->bytes < 0) has_bytes_ = false;
      bytes += static_cast<double>(std::max<int64_t>(member->bytes, 0)) / members;
    }
    ++count_;
    bytes_ += bytes;
    link_bytes_ += bytes * bus_factor(one.kind, members);
    time_ns_ += one.time_ns;
    skew_ns_ += one.skew_ns;
    wait_ns_ += one.wait_ns;
    transfer_ns_ += one.transfer_ns;
  }
  CollectiveKind result(std::string kind, const ProcessGroup& group) const {
    const auto count = static_cast<double>(count_);
    CollectiveKind result;
    result.kind = std::move(kind);
    result.group = group;
    result.count = count_;
    result.time_ns = time_ns_ / count;
    result.wait_ns = wait_ns_ / count;
    result.transfer_ns = transfer_ns_ / count;
    result.skew_ns = skew_ns_ / count;
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

// Medians over the ranks.
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

// Per rank, the place of each of its groups in the list of groups.
std::vector<std::vector<size_t>> places_of(const std::vector<RankData>& ranks,
                                           const std::vector<MatchedGroup>& groups) {
  std::vector<std::vector<size_t>> places;
  for (const RankData& rank : ranks) places.emplace_back(rank.groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t member = 0; member < groups[i].members.size(); ++member) {
      places[groups[i].members[member]][groups[i].places[member]] = i;
    }
  }
  return places;
}

}  // namespace

std::vector<CollectiveKind> collective_kinds(const std::vector<RankData>& ranks,
                                             const std::vector<MatchedGroup>& groups) {
  using Key = std::pair<size_t, std::string>;  // group and kind
  std::map<Key, KindSum> compared;
  for (const ComparedCollective& one : compared_collectives(ranks, groups)) {
    compared[{one.group_place, one.kind}].add(one);
  }
  const auto places = places_of(ranks, groups);
  std::map<Key, std::map<size_t, Alone>> others;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const RankCollective& one : ranks[rank].collectives) {
      const Key key{places[rank][one.group], ranks[rank].kinds[one.kind]};
      if (compared.contains(key)) continue;
      Alone& alone = others[key][rank];
      ++alone.count;
      alone.ns += duration_ns(one);
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
