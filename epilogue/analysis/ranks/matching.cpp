// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/matching.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

// Hosts that synchronize their clocks differ by less.
constexpr int64_t kSynchronizedNs = 20'000'000;
// How far the ends of the same collective may be apart, besides the clocks' offset. The smallest
// that fits decides.
constexpr int64_t kEndsNs[] = {5'000, 20'000, 80'000, 320'000};
// Share of the voters that must agree on an offset.
constexpr double kAgree = 0.4;
// Clocks drift by less, relative to each other.
constexpr double kMaxDrift = 50e-6;
// Collectives that vote on the offset of two clocks.
constexpr size_t kVoters = 256;
constexpr size_t kCandidates = 4096;

// A collective of one member, without its rank.
struct Item {
  std::string_view kind;
  int64_t bytes;
  int64_t end_ns;
  int64_t sequence;
  int64_t step;
  int32_t at;  // in RankData::collectives
};

// Splits of an all-to-all may be uneven, so its size differs between ranks.
bool are_alike(const Item& a, const Item& b) {
  if (a.kind != b.kind || (a.step != b.step && a.step >= 0 && b.step >= 0)) return false;
  return a.kind == "all_to_all" || a.bytes < 0 || b.bytes < 0 || a.bytes == b.bytes;
}

std::vector<Item> items_of(const RankData& rank, size_t group) {
  std::vector<Item> items;
  for (size_t i = 0; i < rank.collectives.size(); ++i) {
    const RankCollective& one = rank.collectives[i];
    const std::string& kind = rank.kinds[one.kind];
    if (one.group != group || !is_synchronizing_kind(kind)) continue;
    items.push_back(
        {kind, one.bytes, one.when.end, one.sequence, one.step, static_cast<int32_t>(i)});
  }
  return items;
}

using Places = std::vector<int32_t>;  // per item of the longest file, in RankData; -1: missing

// Collectives of one coalesced call share a number. The n-th with this number is the same on all
// ranks.
std::optional<Places> by_sequence(const std::vector<Item>& longest,
                                  const std::vector<Item>& other) {
  using Key = std::pair<int64_t, int64_t>;
  const auto keys_of = [](const std::vector<Item>& items) {
    std::map<int64_t, int64_t> counts;
    std::vector<Key> keys;
    for (const Item& item : items) keys.push_back({item.sequence, counts[item.sequence]++});
    return keys;
  };
  const auto has_number = [](const Item& item) { return item.sequence >= 0; };
  if (!std::all_of(longest.begin(), longest.end(), has_number) ||
      !std::all_of(other.begin(), other.end(), has_number)) {
    return std::nullopt;
  }
  std::map<Key, size_t> found;
  const std::vector<Key> other_keys = keys_of(other);
  for (size_t i = 0; i < other.size(); ++i) found[other_keys[i]] = i;
  const std::vector<Key> keys = keys_of(longest);
  Places places(longest.size(), -1);
  for (size_t i = 0; i < longest.size(); ++i) {
    const auto same = found.find(keys[i]);
    if (same == found.end() || !are_alike(longest[i], other[same->second])) continue;
    places[i] = other[same->second].at;
  }
  return places;
}

// The offset between the clocks of two ranks, and how exactly ends fit with it.
struct Offset {
  int64_t ns = 0;
  int64_t within_ns = 0;
};

// If the n-th collective of one can be the n-th of the other.
std::optional<Places> one_by_one(const std::vector<Item>& longest, const std::vector<Item>& other) {
  if (!std::equal(longest.begin(), longest.end(), other.begin(), other.end(), are_alike)) {
    return std::nullopt;
  }
  Places places;
  for (const Item& item : other) places.push_back(item.at);
  return places;
}

struct Cluster {
  size_t count = 0;
  int64_t offset_ns = 0;
};

// The offset that most pairs of alike collectives have. Of several, the smallest.
Cluster densest(const std::vector<int64_t>& sorted, int64_t within_ns) {
  Cluster best;
  size_t begin = 0;
  for (size_t end = 0; end < sorted.size(); ++end) {
    while (sorted[end] - sorted[begin] > within_ns) ++begin;
    const Cluster one{end - begin + 1, sorted[begin + (end - begin) / 2]};
    const bool is_nearer = std::abs(one.offset_ns) < std::abs(best.offset_ns);
    if (one.count > best.count || (one.count == best.count && is_nearer)) best = one;
  }
  return best;
}

// The offset that makes most collectives end together. None if no offset does.
std::optional<Offset> voted_offset(const std::vector<Item>& longest,
                                   const std::vector<Item>& other) {
  const size_t voters = std::min(other.size(), kVoters);
  const size_t first = (other.size() - voters) / 2;
  const size_t candidates = std::min(longest.size(), kCandidates);
  const size_t from = (longest.size() - candidates) / 2;
  std::vector<int64_t> all;
  for (size_t j = first; j < first + voters; ++j) {
    for (size_t i = from; i < from + candidates; ++i) {
      if (are_alike(longest[i], other[j])) all.push_back(other[j].end_ns - longest[i].end_ns);
    }
  }
  std::sort(all.begin(), all.end());
  // Steps may be so regular that a shift by one of them fits as well. Then an offset is preferred
  // that synchronized hosts have.
  std::vector<int64_t> near;
  std::copy_if(all.begin(), all.end(), std::back_inserter(near),
               [](int64_t offset) { return std::abs(offset) <= kSynchronizedNs; });
  const auto span = static_cast<double>(other[first + voters - 1].end_ns - other[first].end_ns);
  for (const int64_t ends_ns : kEndsNs) {
    const bool is_last = ends_ns == *std::rbegin(kEndsNs);
    const int64_t within_ns = ends_ns + (is_last ? static_cast<int64_t>(kMaxDrift * span) : 0);
    Cluster best = densest(all, within_ns);
    const Cluster nearest = densest(near, within_ns);
    if (2 * nearest.count >= best.count) best = nearest;
    const double enough = std::max(3.0, kAgree * static_cast<double>(voters));
    if (static_cast<double>(best.count) >= enough) return Offset{best.offset_ns, within_ns};
  }
  return std::nullopt;
}

// Matches collectives that end together, in order, and follows the drift of the clock.
Places by_time(const std::vector<Item>& longest, const std::vector<Item>& other,
               const Offset& voted) {
  constexpr double kFollow = 0.25;  // share of a new difference in the tracked offset
  const auto tolerance = 4 * static_cast<double>(voted.within_ns);
  auto offset = static_cast<double>(voted.ns);
  Places places(longest.size(), -1);
  size_t next = 0;
  for (size_t i = 0; i < longest.size(); ++i) {
    const auto expected = static_cast<double>(longest[i].end_ns) + offset;
    const auto distance = [&](size_t j) {
      return std::abs(static_cast<double>(other[j].end_ns) - expected);
    };
    while (next < other.size() && static_cast<double>(other[next].end_ns) < expected - tolerance) {
      ++next;
    }
    std::optional<size_t> found;
    for (size_t j = next; j < other.size(); ++j) {
      if (static_cast<double>(other[j].end_ns) > expected + tolerance) break;
      if (are_alike(longest[i], other[j]) && (!found || distance(j) < distance(*found))) found = j;
    }
    if (!found) continue;
    places[i] = other[*found].at;
    next = *found + 1;
    offset += kFollow * (static_cast<double>(other[*found].end_ns) - expected);
  }
  return places;
}

// How much ends differ besides the offset: the median distance from it.
double spread_of(const std::vector<Item>& longest, const std::vector<Item>& other,
                 const Places& places) {
  std::map<int32_t, int64_t> ends;
  for (const Item& item : other) ends[item.at] = item.end_ns;
  std::vector<double> offsets;
  for (size_t i = 0; i < longest.size(); ++i) {
    if (places[i] >= 0) offsets.push_back(static_cast<double>(ends[places[i]] - longest[i].end_ns));
  }
  const double center = median(offsets);
  for (double& offset : offsets) offset = std::abs(offset - center);
  return median(std::move(offsets));
}

std::optional<Places> aligned(const std::vector<Item>& longest, const std::vector<Item>& other) {
  if (auto places = by_sequence(longest, other)) return places;
  auto in_order = one_by_one(longest, other);
  const auto has_step = [](const Item& item) { return item.step >= 0; };
  const bool has_steps = std::all_of(longest.begin(), longest.end(), has_step) &&
                         std::all_of(other.begin(), other.end(), has_step);
  if (in_order && has_steps) return in_order;
  const auto voted = voted_offset(longest, other);
  if (!voted) return in_order;
  Places by_ends = by_time(longest, other, *voted);
  // Sequences that look the same may still be parts of a longer one, at different times.
  constexpr double kBetter = 3;
  if (in_order &&
      kBetter * spread_of(longest, other, by_ends) > spread_of(longest, other, *in_order)) {
    return in_order;
  }
  return by_ends;
}

struct Member {
  size_t rank;
  size_t group;  // in RankData::groups
};

void match_members(const std::vector<RankData>& ranks, const std::vector<Member>& members,
                   MatchedGroup& result) {
  std::vector<std::vector<Item>> items;
  for (const Member& member : members) items.push_back(items_of(ranks[member.rank], member.group));
  const auto longest = std::max_element(
      items.begin(), items.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  result.collectives = static_cast<int64_t>(longest->size());
  if (members.size() < 2 || longest->empty()) return;
  result.matches.resize(longest->size());
  for (const auto& other : items) {
    std::optional<Places> places;
    if (!other.empty()) places = aligned(*longest, other);
    if (!places) {
      result.matches.clear();
      return;
    }
    for (size_t i = 0; i < longest->size(); ++i) result.matches[i].at.push_back((*places)[i]);
  }
  result.is_matched = true;
}

}  // namespace

bool Match::is_complete() const { return std::find(at.begin(), at.end(), -1) == at.end(); }

int64_t world_size(const std::vector<RankData>& ranks) {
  auto size = static_cast<int64_t>(ranks.size());
  for (const RankData& rank : ranks) size = std::max(size, rank.world_size);
  return size;
}

std::vector<MatchedGroup> match_collectives(const std::vector<RankData>& ranks) {
  std::map<ProcessGroup, std::vector<Member>> groups;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (size_t group = 0; group < ranks[rank].groups.size(); ++group) {
      groups[ranks[rank].groups[group]].push_back({rank, group});
    }
  }
  const int64_t world = world_size(ranks);
  std::vector<MatchedGroup> result;
  for (const auto& [group, members] : groups) {
    MatchedGroup& matched = result.emplace_back();
    matched.group = group;
    for (const Member& member : members) {
      matched.members.push_back(member.rank);
      matched.places.push_back(member.group);
    }
    const int64_t size = group.size > 0 ? group.size : world;
    matched.is_complete = static_cast<int64_t>(members.size()) == size;
    matched.is_ambiguous = group.ranks.empty() && size < world;
    match_members(ranks, members, matched);
    if (!matched.is_ambiguous) continue;
    matched.is_matched = false;
    matched.matches.clear();
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.members.size() > b.members.size();
  });
  return result;
}

}  // namespace epi::analysis
