// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "epilogue/analysis/index/statistics.h"
#include "epilogue/analysis/ranks/communication.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/idle_class.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::Limiter;
using analysis::NoStraggler;
using analysis::RankData;
using analysis::Ranks;
using analysis::RankTimes;
using analysis::Straggler;

constexpr size_t kShownRanks = 16;
constexpr size_t kExtremes = 3;  // of each end, if there are more
constexpr size_t kShownKinds = 6;
constexpr size_t kShownStragglers = 3;
constexpr size_t kShownAdvice = 3;

std::string name_of(const RankData& rank) {
  if (rank.has_rank) return fmt::format("{}", rank.rank);
  return visible_text(std::filesystem::path(rank.file).filename().string(), LineBreaks::kReplace);
}

// At the start of a sentence.
std::string subject_of(const RankData& rank) {
  return (rank.has_rank ? "Rank " : "File ") + name_of(rank);
}

bool is_conclusive(const RankData& rank) {
  return rank.limiter != Limiter::kNotConclusive && rank.limiter != Limiter::kNotInFile;
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
      ++counts[regime_of(rank.limiter)];
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
  text += fmt::format(" Cause: {} per step more {} than the median rank",
                      time_text(straggler.cause_ns / steps), text_of(*straggler.cause));
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
      100 * *most / all, ranks.ranks[rank].has_rank ? "rank" : "file", name_of(ranks.ranks[rank]),
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

std::string waiting_text(const Ranks& ranks, size_t width) {
  if (ranks.arrivals.stragglers.empty()) return wrapped(no_straggler_text(ranks), width) + '\n';
  std::string text;
  const auto& stragglers = ranks.arrivals.stragglers;
  for (size_t i = 0; i < std::min(stragglers.size(), kShownStragglers); ++i) {
    text += wrapped(straggler_text(ranks, stragglers[i]), width) + '\n';
  }
  if (stragglers.size() > kShownStragglers) {
    text += fmt::format("{} more ranks arrive last more often than chance explains: --json\n",
                        stragglers.size() - kShownStragglers);
  }
  return text;
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
      name_of(ranks.ranks[farthest]), name_of(reference), difference_text(most.offset_ns),
      difference_text(most.low_ns), difference_text(most.high_ns));
  if (drift > 0) text += fmt::format("; clocks drift by up to {:.1f} ppm", 1e6 * drift);
  return text + '.';
}

std::string header(const Ranks& ranks, const std::string& source, size_t width) {
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
  const std::string rest =
      fmt::format(" | {} | {}{}",
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

// "host": the largest class of idle time.
std::string idle_text(const RankTimes& times) {
  const IdleClassTimes sums = sums_by_class(times.idle);
  const auto most = std::max_element(sums.begin(), sums.end());
  return *most <= 0 ? "-" : short_name(static_cast<IdleClass>(most - sums.begin()));
}

struct Row {
  const RankData* rank;
  RankTimes times;
};

std::vector<Row> rows_of(const Ranks& ranks) {
  std::vector<Row> rows;
  for (const RankData& rank : ranks.ranks) rows.push_back({&rank, times_of(rank)});
  return rows;
}

// "+1.2 %", without a sign if it rounds to zero.
std::string deviation_text(double share) {
  const double percent = 100 * share;
  return std::abs(percent) < 0.05 ? "0.0 %" : fmt::format("{:+.1f} %", percent);
}

std::vector<Table::Column> rank_columns() {
  return {{"rank", Align::kLeft},     {"step", Align::kRight},    {"deviation", Align::kRight},
          {"compute", Align::kRight}, {"exposed", Align::kRight}, {"hidden", Align::kRight},
          {"idle", Align::kRight},    {"mostly", Align::kLeft}};
}

void add_row(Table& table, const Row& row, double typical_ns) {
  const RankTimes& times = row.times;
  const bool has_work = times.step_ns > 0;
  const auto cell = [&](double ns) { return has_work ? time_text(ns) : "-"; };
  table.add_row({name_of(*row.rank), cell(times.step_ns),
                 has_work && typical_ns > 0 ? deviation_text(times.step_ns / typical_ns - 1) : "-",
                 cell(times.compute_ns), cell(times.exposed_ns), cell(times.hidden_ns),
                 cell(times.idle_ns), has_work ? idle_text(times) : "-"});
}

std::string ranks_table(const Ranks& ranks, size_t width) {
  std::vector<Row> rows = rows_of(ranks);
  const double typical_ns = median_step_ns(ranks.ranks);
  const bool folds = rows.size() > kShownRanks;
  if (folds) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.times.step_ns > b.times.step_ns; });
  }
  Table table(rank_columns());
  table.shrink(7);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (folds && i >= kExtremes && i < rows.size() - kExtremes) continue;
    add_row(table, rows[i], typical_ns);
  }
  std::string text = table.text(width);
  if (folds) {
    text += fmt::format("{} more ranks, with steps of {} to {}: --json, --md\n",
                        rows.size() - 2 * kExtremes,
                        time_text(rows[rows.size() - kExtremes - 1].times.step_ns),
                        time_text(rows[kExtremes].times.step_ns));
  }
  return text;
}

std::string group_text(const analysis::ProcessGroup& group) {
  return group.name.empty() ? "(all)" : visible_text(group.name, LineBreaks::kReplace);
}

std::string optional_time(const std::optional<double>& ns) { return ns ? time_text(*ns) : "-"; }
std::string optional_rate(const std::optional<double>& rate) {
  return rate ? bandwidth_text(*rate) : "-";
}

std::string kinds_text(const Ranks& ranks, size_t width) {
  if (ranks.kinds.empty()) return "";
  // With several groups, their names take the place of the skew.
  const bool has_groups = ranks.groups.size() > 1;
  constexpr size_t kMaxGroup = 10;
  Table table(
      {{"collective", Align::kLeft},
       has_groups ? Table::Column{"group", Align::kLeft} : Table::Column{"skew", Align::kRight},
       {"count", Align::kRight},
       {"bytes", Align::kRight},
       {"time", Align::kRight},
       {"wait", Align::kRight},
       {"transfer", Align::kRight},
       {"bus GB/s", Align::kRight}});
  for (size_t i = 0; i < std::min(ranks.kinds.size(), kShownKinds); ++i) {
    const analysis::CollectiveKind& kind = ranks.kinds[i];
    table.add_row(
        {visible_text(kind.kind, LineBreaks::kReplace),
         has_groups ? shortened(group_text(kind.group), kMaxGroup) : optional_time(kind.skew_ns),
         fmt::format("{}", kind.count), kind.bytes ? bytes_text(*kind.bytes) : "?",
         time_text(kind.time_ns), optional_time(kind.wait_ns), optional_time(kind.transfer_ns),
         kind.bus_rate ? four_digits(*kind.bus_rate) : "-"});
  }
  std::string text = '\n' + table.text(width);
  if (ranks.kinds.size() > kShownKinds) {
    text += fmt::format("{} more kinds: --json, --md\n", ranks.kinds.size() - kShownKinds);
  }
  return text;
}

// "overlap all_reduce with compute".
std::string remedy_text(const Ranks& ranks, const analysis::CommunicationAdvice& advice) {
  using analysis::CommunicationRemedy;
  const std::string kind =
      visible_text(advice.kind, LineBreaks::kReplace) +
      (ranks.groups.size() > 1 ? fmt::format(" of {}", group_text(advice.group)) : "");
  switch (advice.remedy) {
    case CommunicationRemedy::kArriveTogether:
      return fmt::format("{} {} arrives with the others",
                         ranks.ranks[advice.rank].has_rank ? "rank" : "file",
                         name_of(ranks.ranks[advice.rank]));
    case CommunicationRemedy::kOverlap:
      return fmt::format("overlap {} with compute", kind);
    case CommunicationRemedy::kBucket:
      return fmt::format("one {} per step instead of several", kind);
    case CommunicationRemedy::kBandwidth:
      return fmt::format("every {} as fast as the fastest tenth", kind);
  }
  return "";
}

std::string advice_text(const Ranks& ranks, bool markdown, size_t width) {
  const auto advice = analysis::communication_advice(ranks);
  if (advice.empty()) return "";
  Table table({{"what could help", Align::kLeft}, {"saves per step", Align::kLeft}});
  const size_t shown = markdown ? advice.size() : std::min(advice.size(), kShownAdvice);
  for (size_t i = 0; i < shown; ++i) {
    table.add_row({remedy_text(ranks, advice[i]), "at most " + time_text(advice[i].at_most_ns)});
  }
  return '\n' + (markdown ? table.markdown() : table.text(width));
}

}  // namespace

std::string short_name(IdleClass idle) {
  const std::string key = words_of(idle).key;
  return key.substr(key.find('-') + 1);
}

const char* text_of(analysis::Between between) {
  switch (between) {
    case analysis::Between::kCompute:
      return "of compute";
    case analysis::Between::kCopies:
      return "of copies";
    case analysis::Between::kDataLoading:
      return "of data loading";
    case analysis::Between::kSynchronizing:
      return "of synchronization";
    case analysis::Between::kHost:
      return "of waiting for the host";
    case analysis::Between::kNotInTrace:
      return "of waiting for something not in the trace";
  }
  return "";
}

std::string ranks_text(const Ranks& ranks, const std::string& source, size_t width) {
  std::string out = header(ranks, source, width) + "\n\n";
  if (!ranks.ranks[0].is_one_step) out += wrapped(limiters_text(ranks.ranks), width) + '\n';
  out += waiting_text(ranks, width);
  for (const std::string& line : {remarks(ranks), clocks_text(ranks)}) {
    if (!line.empty()) out += wrapped(line, width) + '\n';
  }
  out += '\n' + ranks_table(ranks, width) + kinds_text(ranks, width) +
         advice_text(ranks, false, width);
  return out + "\nnext: epilogue RANK_FILE | breakdown FOLDER | advise RANK_FILE\n";
}

std::string ranks_markdown(const Ranks& ranks, const std::string& source) {
  const size_t width = SIZE_MAX;
  std::string out = fmt::format("## {}\n\n", header(ranks, source, width / 2));
  if (!ranks.ranks[0].is_one_step) out += limiters_text(ranks.ranks) + '\n';
  out += waiting_text(ranks, width);
  for (const std::string& line : {remarks(ranks), clocks_text(ranks)}) {
    if (!line.empty()) out += line + '\n';
  }
  const std::vector<Row> rows = rows_of(ranks);
  Table table(rank_columns());
  for (const Row& row : rows) add_row(table, row, median_step_ns(ranks.ranks));
  Table kinds({{"collective", Align::kLeft},
               {"group", Align::kLeft},
               {"count", Align::kRight},
               {"bytes", Align::kRight},
               {"time", Align::kRight},
               {"skew", Align::kRight},
               {"wait", Align::kRight},
               {"transfer", Align::kRight},
               {"algorithm bandwidth", Align::kRight},
               {"bus bandwidth", Align::kRight}});
  for (const analysis::CollectiveKind& kind : ranks.kinds) {
    kinds.add_row({visible_text(kind.kind, LineBreaks::kReplace), group_text(kind.group),
                   fmt::format("{}", kind.count), kind.bytes ? bytes_text(*kind.bytes) : "?",
                   time_text(kind.time_ns), optional_time(kind.skew_ns),
                   optional_time(kind.wait_ns), optional_time(kind.transfer_ns),
                   optional_rate(kind.algorithm_rate), optional_rate(kind.bus_rate)});
  }
  return out + '\n' + table.markdown() + (ranks.kinds.empty() ? "" : '\n' + kinds.markdown()) +
         advice_text(ranks, true, width);
}

}  // namespace epi::report
