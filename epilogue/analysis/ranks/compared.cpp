// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/compared.h"

#include <algorithm>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

// There are at least two members.
void measure(ComparedCollective& collective) {
  std::vector<double> durations;
  for (const RankCollective* one : collective.members) durations.push_back(duration_ns(*one));
  collective.time_ns = median(durations);
  collective.skew_ns = *std::max_element(durations.begin(), durations.end());
  const auto shortest = std::min_element(durations.begin(), durations.end());
  collective.last = static_cast<size_t>(shortest - durations.begin());
  collective.transfer_ns = *shortest;
  collective.skew_ns -= collective.transfer_ns;
  durations.erase(shortest);
  collective.alone_ns =
      *std::min_element(durations.begin(), durations.end()) - collective.transfer_ns;
  collective.wait_ns = median(std::move(durations)) - collective.transfer_ns;
}

}  // namespace

double duration_ns(const RankCollective& collective) {
  return static_cast<double>(collective.when.end - collective.when.begin);
}

std::vector<ComparedCollective> compared_collectives(const std::vector<RankData>& ranks,
                                                     const std::vector<MatchedGroup>& groups) {
  std::vector<ComparedCollective> result;
  for (size_t place = 0; place < groups.size(); ++place) {
    const MatchedGroup& group = groups[place];
    if (!group.is_complete || !group.is_matched) continue;
    for (size_t i = 0; i < group.matches.size(); ++i) {
      if (!group.matches[i].is_complete()) continue;
      ComparedCollective one{};
      one.group = &group;
      one.group_place = place;
      one.position = static_cast<int64_t>(i);
      for (size_t member = 0; member < group.members.size(); ++member) {
        const auto at = static_cast<size_t>(group.matches[i].at[member]);
        one.members.push_back(&ranks[group.members[member]].collectives[at]);
      }
      one.kind = ranks[group.members[0]].kinds[one.members[0]->kind];
      measure(one);
      result.push_back(std::move(one));
    }
  }
  return result;
}

}  // namespace epi::analysis
