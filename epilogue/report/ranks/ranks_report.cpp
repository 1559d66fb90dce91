// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks/ranks_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/ranks/communication.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/ranks/ranks_parts.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::RankData;
using analysis::Ranks;
using analysis::RankTimes;

constexpr size_t kShownRanks = 16;
constexpr size_t kExtremes = 3;  // of each end, if there are more
constexpr size_t kShownKinds = 6;
constexpr size_t kShownAdvice = 3;

// "host": the largest class of idle time.
std::string idle_text(const RankTimes& times) {
  const analysis::IdleClassTimes sums = analysis::sums_by_class(times.idle);
  const auto most = std::max_element(sums.begin(), sums.end());
  return *most <= 0 ? "-" : words_of(static_cast<analysis::IdleClass>(most - sums.begin())).brief;
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

// A file is shown without its endings, which are the same for all.
std::string table_name(const RankData& rank, size_t max_size) {
  std::string name = rank_name(rank);
  if (rank.has_rank || name.size() <= max_size) return name;
  for (const std::string_view ending : {".gz", ".zst", ".json", ".trace", ".pt"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return shortened_middle(name, max_size);
}

void add_row(Table& table, const Row& row, double typical_ns, size_t max_name = SIZE_MAX) {
  const RankTimes& times = row.times;
  const bool has_work = times.step_ns > 0;
  const auto cell = [&](double ns) { return has_work ? time_text(ns) : "-"; };
  table.add_row({table_name(*row.rank, max_name), cell(times.step_ns),
                 has_work && typical_ns > 0 ? deviation_text(times.step_ns / typical_ns - 1) : "-",
                 cell(times.compute_ns), cell(times.exposed_ns), cell(times.hidden_ns),
                 cell(times.idle_ns), has_work ? idle_text(times) : "-"});
}

// Whether a sentence names the rank as a straggler.
bool is_named(const Ranks& ranks, const RankData& rank) {
  const auto& stragglers = ranks.arrivals.stragglers;
  const size_t count = std::min(stragglers.size(), kShownStragglers);
  return std::any_of(stragglers.begin(), stragglers.begin() + static_cast<ptrdiff_t>(count),
                     [&](const auto& one) { return &ranks.ranks[one.rank] == &rank; });
}

// The extremes, and the stragglers.
std::string folded_ranks(const Ranks& ranks, size_t width) {
  std::vector<Row> rows = rows_of(ranks);
  const double typical_ns = median_step_ns(ranks.ranks);
  const bool folds = rows.size() > kShownRanks;
  if (folds) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.times.step_ns > b.times.step_ns; });
  }
  Table table(rank_columns());
  table.shrink(7);
  size_t shown = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_extreme = i < kExtremes || i + kExtremes >= rows.size();
    if (folds && !is_extreme && !is_named(ranks, *rows[i].rank)) continue;
    constexpr size_t kMaxName = 16;
    add_row(table, rows[i], typical_ns, kMaxName);
    ++shown;
  }
  std::string text = table.text(width);
  if (folds) {
    text +=
        fmt::format("{} more ranks, with steps of {} to {}: --json, --md\n", rows.size() - shown,
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
                         rank_name(ranks.ranks[advice.rank]));
    case CommunicationRemedy::kOverlap:
      return fmt::format("overlap {} with compute", kind);
    case CommunicationRemedy::kBucket:
      return fmt::format("one {} per step instead of several", kind);
    case CommunicationRemedy::kBandwidth:
      return fmt::format("every {} as fast as the fastest tenth", kind);
  }
  return "";
}

}  // namespace

std::optional<double> RankItem::deviation() const {
  if (typical_ns <= 0 || times.step_ns <= 0) return std::nullopt;
  return times.step_ns / typical_ns - 1;
}

std::vector<RankItem> RanksResult::rank_items() const {
  const double typical_ns = median_step_ns(ranks.ranks);
  std::vector<RankItem> items;
  for (size_t i = 0; i < ranks.ranks.size(); ++i) {
    items.push_back({ranks, i, typical_ns, times_of(ranks.ranks[i])});
  }
  return items;
}

std::vector<StragglerItem> RanksResult::straggler_items() const {
  std::vector<StragglerItem> items;
  for (const auto& one : ranks.arrivals.stragglers) items.push_back({ranks, one});
  return items;
}

std::vector<RemedyItem> RanksResult::remedy_items() const {
  std::vector<RemedyItem> items;
  for (const auto& one : analysis::communication_advice(ranks)) items.push_back({ranks, one});
  return items;
}

Table ranks_table(const Ranks& ranks) {
  Table table(rank_columns());
  for (const Row& row : rows_of(ranks)) add_row(table, row, median_step_ns(ranks.ranks));
  return table;
}

Table kinds_table(const Ranks& ranks) {
  Table table({{"collective", Align::kLeft},
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
    table.add_row({visible_text(kind.kind, LineBreaks::kReplace), group_text(kind.group),
                   fmt::format("{}", kind.count), kind.bytes ? bytes_text(*kind.bytes) : "?",
                   time_text(kind.time_ns), optional_time(kind.skew_ns),
                   optional_time(kind.wait_ns), optional_time(kind.transfer_ns),
                   optional_rate(kind.algorithm_rate), optional_rate(kind.bus_rate)});
  }
  return table;
}

Table advice_table(const Ranks& ranks, size_t max_rows) {
  Table table({{"what could help", Align::kLeft}, {"saves per step", Align::kLeft}});
  const auto advice = analysis::communication_advice(ranks);
  for (size_t i = 0; i < std::min(advice.size(), max_rows); ++i) {
    table.add_row({remedy_text(ranks, advice[i]), "at most " + time_text(advice[i].at_most_ns)});
  }
  return table;
}

namespace {

std::string markdown_of(const RanksResult& result) {
  const Ranks& ranks = result.ranks;
  std::string out = fmt::format("## {}\n\n", ranks_title(ranks, result.source, SIZE_MAX / 2));
  for (const std::string& sentence : ranks_sentences(ranks)) out += sentence + '\n';
  for (const Table& table :
       {ranks_table(ranks), kinds_table(ranks), advice_table(ranks, SIZE_MAX)}) {
    if (!table.is_empty()) out += '\n' + table.markdown();
  }
  return out;
}

}  // namespace

std::string text_of(const RanksResult& result, const Style& style) {
  if (style.markdown) return markdown_of(result);
  const Ranks& ranks = result.ranks;
  const size_t width = style.width;
  std::string out = ranks_title(ranks, result.source, width) + "\n\n";
  for (const std::string& sentence : ranks_sentences(ranks)) out += wrapped(sentence, width) + '\n';
  out += '\n' + folded_ranks(ranks, width) + kinds_text(ranks, width);
  const Table advice = advice_table(ranks, kShownAdvice);
  if (!advice.is_empty()) out += '\n' + advice.text(width);
  return out + "\nnext: epilogue RANK_FILE | report FOLDER -o r.html | advise RANK_FILE\n";
}

}  // namespace epi::report
