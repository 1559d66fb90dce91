// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/ranks/ranks_parts.h"
#include "epilogue/report/ranks/ranks_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {

using analysis::Limiter;
using analysis::NoStraggler;
using analysis::RankData;
using analysis::Ranks;
using analysis::Straggler;

std::string rank_name(const RankData& rank) {
  if (rank.has_rank) return fmt::format("{}", rank.rank);
  return visible_text(std::filesystem::path(rank.file).filename().string(), LineBreaks::kReplace);
}

namespace {

// At the start of a sentence.
std::string subject_of(const RankData& rank) {
  return (rank.has_rank ? "Rank " : "File ") + rank_name(rank);
}

bool is_conclusive(const RankData& rank) {
  return rank.limiter != Limiter::kNotConclusive && rank.limiter != Limiter::kNotInTrace;
}

// Why ranks have no conclusive limit.
std::string unexplained_text(const std::vector<RankData>& ranks) {
  double least = 1;
  double most = 0;
  for (const RankData& rank : ranks) {
    if (is_conclusive(rank)) continue;
    least = std::min(least, rank.unexplained_share);
    most = std::max(most, rank.unexplained_share);
  }
  if (most <= 0) return "";
  const std::string low = fmt::format("{:.0f} %", 100 * least);
  const std::string high = fmt::format("{:.0f} %", 100 * most);
  return fmt::format(": the GPU waits {}{} of a step for something not in the trace", low,
                     low == high ? "" : " to " + high);
}

// "6 of 8 ranks are host-bound, 2 mixed.", the most frequent first.
std::string limiters_text(const std::vector<RankData>& ranks) {
  std::map<std::string, size_t> counts;
  size_t unclear = 0;
  for (const RankData& rank : ranks) {
    if (is_conclusive(rank)) {
      ++counts[words_of(rank.limiter).adjective];
    } else {
      ++unclear;
    }
  }
  std::vector<std::pair<std::string, size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [regime, count] : order) {
    parts.push_back(parts.empty() ? fmt::format("{} of {} {} {}", count,
                                                plural(static_cast<double>(ranks.size()), "rank"),
                                                count == 1 ? "is" : "are", regime)
                                  : fmt::format("{} {}", count, regime));
  }
  std::string text = parts.empty() ? "" : join(parts, ", ") + '.';
  if (unclear == 0) return text;
  return text + fmt::format("{}{} of {} {} no clear bottleneck{}.", text.empty() ? "" : " ",
                            unclear, plural(static_cast<double>(ranks.size()), "rank"),
                            unclear == 1 ? "has" : "have", unexplained_text(ranks));
}

// "Rank 3 arrives last in 40 of 60 collectives. The median rank waits 1.2 ms per step for it."
std::string straggler_text(const Ranks& ranks, const Straggler& straggler) {
  const RankData& rank = ranks.ranks[straggler.rank];
  const auto steps = static_cast<double>(straggler.steps);
  std::string text = fmt::format(
      "{} arrives last in {} of {}. The median rank then waits {} per step, {} of it for this one "
      "alone{}.",
      subject_of(rank), straggler.last, plural(static_cast<double>(straggler.of), "collective"),
      time_text(straggler.wait_ns / steps), time_text(straggler.alone_ns / steps),
      straggler.steps > 1 ? "" : "; one step does not show whether it always does");
  if (!straggler.cause) {
    return text + " Nothing that it did longer than the median rank explains half of that.";
  }
  text += fmt::format(" Cause: {} more {} per step than the median rank",
                      time_text(straggler.cause_ns / steps), words_of(*straggler.cause).phrase);
  if (straggler.name.empty()) return text + '.';
  constexpr size_t kMaxName = 60;
  return text +
         fmt::format(", mostly {}.",
                     shortened(visible_text(straggler.name, LineBreaks::kReplace), kMaxName));
}

// Also names a rank that is rarely last, but then by much.
std::string chance_text(const Ranks& ranks) {
  const std::vector<double>& waits = ranks.arrivals.wait_ns;
  const auto most = std::max_element(waits.begin(), waits.end());
  double all = 0;
  for (const double wait : waits) all += wait;
  // Much more than the share of one rank among all.
  const double much = std::max(0.5, 3 / static_cast<double>(ranks.ranks.size()));
  if (*most <= much * all || *most <= 0) {
    return "No straggler: no rank arrives last more often than chance explains.";
  }
  const auto rank = static_cast<size_t>(most - waits.begin());
  return fmt::format(
      "No rank arrives last more often than chance explains. But {:.0f} % of the waiting is for {} "
      "{}, which arrives last in {} of {}.",
      100 * *most / all, ranks.ranks[rank].has_rank ? "rank" : "file", rank_name(ranks.ranks[rank]),
      ranks.arrivals.last[rank],
      plural(static_cast<double>(ranks.arrivals.compared), "collective"));
}

std::string no_straggler_text(const Ranks& ranks) {
  switch (ranks.arrivals.reason) {
    case NoStraggler::kRanksMissing:
      return fmt::format("No straggler is named: these are {} of {} ranks.", ranks.ranks.size(),
                         ranks.world_size);
    case NoStraggler::kUnknownGroups:
      return "No straggler is named: several process groups may have the same name, and the files "
             "do not list their ranks.";
    case NoStraggler::kDifferent:
      return "No straggler is named: the files have too few collectives in common.";
    case NoStraggler::kChance:
      return chance_text(ranks);
    default:
      return "No collectives in which all ranks of a group wait for each other.";
  }
}

void add_waiting(const Ranks& ranks, std::vector<std::string>& sentences) {
  const auto& stragglers = ranks.arrivals.stragglers;
  if (stragglers.empty()) sentences.push_back(no_straggler_text(ranks));
  for (size_t i = 0; i < std::min(stragglers.size(), kShownStragglers); ++i) {
    sentences.push_back(straggler_text(ranks, stragglers[i]));
  }
  if (stragglers.size() > kShownStragglers) {
    sentences.push_back(
        fmt::format("{} more ranks arrive last more often than chance explains: --json",
                    stragglers.size() - kShownStragglers));
  }
}

// Everything that the numbers do not show.
std::string remarks(const Ranks& ranks) {
  std::vector<std::string> parts;
  const bool has_unnamed = std::any_of(ranks.groups.begin(), ranks.groups.end(),
                                       [](const auto& group) { return group.group.name.empty(); });
  if (has_unnamed) {
    parts.emplace_back(
        "Process groups are not recorded: collectives are taken to be of all ranks.");
  }
  const auto unmatched =
      std::count_if(ranks.groups.begin(), ranks.groups.end(), [](const auto& group) {
        return group.collectives > 0 && (!group.is_matched || !group.is_complete);
      });
  if (unmatched > 0 && ranks.arrivals.compared > 0) {
    parts.push_back(
        fmt::format("{} not compared: ranks are missing or not listed.",
                    plural(static_cast<double>(unmatched), "process group", "s are", " is")));
  }
  if (ranks.arrivals.not_compared > 0) {
    parts.push_back(fmt::format(
        "{} not found in all files.",
        plural(static_cast<double>(ranks.arrivals.not_compared), "collective", "s are", " is")));
  }
  int64_t point_to_point = 0;
  for (const RankData& rank : ranks.ranks) point_to_point += rank.point_to_point;
  if (point_to_point > 0) {
    parts.push_back(fmt::format(
        "{} not compared.",
        plural(static_cast<double>(point_to_point), "point-to-point kernel", "s are", " is")));
  }
  return join(parts, " ");
}

std::string clocks_text(const Ranks& ranks) {
  size_t farthest = 0;
  double most_ns = 0;
  double drift = 0;
  for (size_t i = 0; i < ranks.clocks.size(); ++i) {
    if (!ranks.clocks[i]) continue;
    const analysis::ClockOffset& clock = *ranks.clocks[i];
    drift = std::max(drift, std::abs(clock.drift));
    // Kernels end a few microseconds apart on good clocks, too.
    constexpr double kMinNs = 5000;
    const bool may_be_zero =
        (clock.low_ns <= 0 && clock.high_ns >= 0) || std::abs(clock.offset_ns) < kMinNs;
    if (may_be_zero || std::abs(clock.offset_ns) <= most_ns) continue;
    most_ns = std::abs(clock.offset_ns);
    farthest = i;
  }
  if (most_ns <= 0) return "";
  const analysis::ClockOffset& most = *ranks.clocks[farthest];
  const auto first = std::find_if(ranks.clocks.begin(), ranks.clocks.end(),
                                  [](const auto& clock) { return clock.has_value(); });
  const RankData& reference = ranks.ranks[static_cast<size_t>(first - ranks.clocks.begin())];
  std::string text = fmt::format(
      "The clock of rank {} differs most from rank {}'s: {} (95 %: {} to {})",
      rank_name(ranks.ranks[farthest]), rank_name(reference), difference_text(most.offset_ns),
      difference_text(most.low_ns), difference_text(most.high_ns));
  if (drift > 0) text += fmt::format("; clocks drift by up to {:.1f} ppm", 1e6 * drift);
  return text + '.';
}

}  // namespace

std::vector<std::string> ranks_sentences(const Ranks& ranks) {
  std::vector<std::string> sentences;
  if (!ranks.ranks[0].is_one_step) sentences.push_back(limiters_text(ranks.ranks));
  add_waiting(ranks, sentences);
  for (std::string& line : std::vector<std::string>{remarks(ranks), clocks_text(ranks)}) {
    if (!line.empty()) sentences.push_back(std::move(line));
  }
  return sentences;
}

std::string ranks_title(const Ranks& ranks, const std::string& source, size_t width) {
  const std::string name = std::filesystem::path(source).filename().string();
  const std::string& device = ranks.ranks[0].device;
  const auto same = std::all_of(ranks.ranks.begin(), ranks.ranks.end(),
                                [&](const RankData& rank) { return rank.device == device; });
  const auto count = static_cast<int64_t>(ranks.ranks.size());
  const auto [fewest, most] = std::minmax_element(
      ranks.ranks.begin(), ranks.ranks.end(),
      [](const RankData& a, const RankData& b) { return a.steps.size() < b.steps.size(); });
  const std::string steps = plural(static_cast<double>(most->steps.size()), "step");
  const bool are_equal = fewest->steps.size() == most->steps.size();
  std::set<std::string> hosts;
  for (const RankData& rank : ranks.ranks) hosts.insert(rank.host);
  const bool has_hosts = hosts.size() > 1 && !hosts.contains("");
  const std::string rest =
      fmt::format("{} | {} | {}{}", has_hosts ? fmt::format(" | {} hosts", hosts.size()) : "",
                  ranks.world_size > count ? fmt::format("{} of {} ranks", count, ranks.world_size)
                                           : plural(static_cast<double>(count), "rank"),
                  are_equal ? steps : fmt::format("{} to {}", fewest->steps.size(), steps),
                  count > 1 && are_equal ? " each" : "");
  const std::string both = fmt::format("{} | {}", name,
                                       device.empty() ? "GPU not named"
                                       : same         ? device
                                                      : "different GPUs");
  return shortened(both, width > rest.size() + 20 ? width - rest.size() : 20) + rest;
}

}  // namespace epi::report
