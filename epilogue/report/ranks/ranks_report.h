// SPDX-License-Identifier: Apache-2.0
// The ranks of one job: times of each rank, the rank that the others wait for and why, collectives
// and clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/communication.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/ranks/ranks_words.h"
#include "epilogue/report/steps/time_members.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

// A file of the job that could not be read.
struct UnreadableRank {
  std::string file;
  std::string message;
};

struct RanksResult {
  analysis::Ranks ranks;
  std::string source;  // the folder or the first file on the command line
  std::vector<UnreadableRank> unreadable{};

  std::vector<struct RankItem> rank_items() const;
  std::vector<struct StragglerItem> straggler_items() const;
  std::vector<struct RemedyItem> remedy_items() const;
};
// Text shows at most 16 ranks: beyond that, those with the longest and the shortest steps. Markdown
// has all ranks and all columns.
std::string text_of(const RanksResult& result, const Style& style);

struct RankItem {
  const analysis::Ranks& ranks;
  size_t place;
  double typical_ns;  // step time of the median rank
  analysis::RankTimes times;

  const analysis::RankData& rank() const { return ranks.ranks[place]; }
  std::optional<double> deviation() const;
};
struct StragglerItem {
  const analysis::Ranks& ranks;
  const analysis::Straggler& straggler;

  const analysis::RankData& rank() const { return ranks.ranks[straggler.rank]; }
  double per_step(double ns) const { return ns / static_cast<double>(straggler.steps); }
};
// What could make communication shorter.
struct RemedyItem {
  const analysis::Ranks& ranks;
  analysis::CommunicationAdvice advice;

  bool is_about_rank() const {
    return advice.remedy == analysis::CommunicationRemedy::kArriveTogether;
  }
};

// The number of a rank; null if its file does not have one.
inline std::optional<int64_t> rank_number(const analysis::RankData& rank) {
  return rank.has_rank ? std::optional(rank.rank) : std::nullopt;
}

template <>
struct Description<analysis::ClockOffset> {
  using Clock = analysis::ClockOffset;
  static constexpr const char* kName = "clock";
  static constexpr std::tuple kMembers{
      Member{"offset_us", "offset", Unit::kNanoseconds, "how far it is ahead of the first rank's",
             &Clock::offset_ns},
      Member{"offset_us_low", "low", Unit::kNanoseconds,
             "low end of the interval with 95 % probability", &Clock::low_ns},
      Member{"offset_us_high", "high", Unit::kNanoseconds, "high end of that interval",
             &Clock::high_ns},
      Member{"drift_ppm", "drift", Unit::kNumber, "change of the offset, parts per million",
             [](const Clock& one) { return 1e6 * one.drift; }},
      Member{"collectives", "collectives", Unit::kCount, "collectives that it follows from",
             &Clock::collectives}};
};

template <>
struct Description<RankItem> {
  using Item = RankItem;
  using Times = analysis::RankTimes;
  static constexpr const char* kName = "rank";
  static constexpr std::tuple kMembers{
      Member{"file", "file", Unit::kNone, "its trace",
             [](const Item& one) -> auto& { return one.rank().file; }},
      Member{"rank", "rank", Unit::kNumber, "its number; null if the file does not say",
             [](const Item& one) { return rank_number(one.rank()); }},
      Member{"host", "host", Unit::kNone, "the machine; null if the file's name does not say",
             [](const Item& one) { return if_known(one.rank().host); }},
      Member{"gpu", "GPU", Unit::kNone, "the name of its GPU",
             [](const Item& one) -> auto& { return one.rank().device; }},
      Member{"regime", "limit", Unit::kNone, "what limits its steps",
             [](const Item& one) { return rank_regime(one.rank().limiter); }},
      Member{"steps", "steps", Unit::kCount, "number of steps",
             [](const Item& one) { return one.rank().steps.size(); }},
      Member{"step_us", "step", Unit::kNanoseconds, "step time of its shown step",
             [](const Item& one) { return one.times.step_ns; }},
      Member{"deviation", "deviation", Unit::kNumber,
             "step time relative to the median rank, minus 1", &Item::deviation},
      Member{"compute_us", "compute", Unit::kNanoseconds, "kernels other than collectives",
             [](const Item& one) { return one.times.compute_ns; }},
      Member{"exposed_communication_us", "exposed", Unit::kNanoseconds,
             "collectives while nothing is computed",
             [](const Item& one) { return one.times.exposed_ns; }},
      Member{"hidden_communication_us", "hidden", Unit::kNanoseconds, "collectives during compute",
             [](const Item& one) { return one.times.hidden_ns; }},
      Member{"exposed_copies_us", "copies", Unit::kNanoseconds,
             "copies and memsets while no kernel runs",
             [](const Item& one) { return one.times.copies_ns; }},
      Member{"others_us", "others", Unit::kNanoseconds, "only work of no step or another one runs",
             [](const Item& one) { return one.times.others_ns; }},
      Member{"idle_us", "idle", Unit::kNanoseconds, "nothing runs",
             [](const Item& one) { return one.times.idle_ns; }},
      Member{"idle_classes", "idle", Unit::kNanoseconds, "idle time by class",
             [](const Item& one) { return class_times(one.times.idle); }},
      Member{"collectives", "collectives", Unit::kCount, "recorded collectives",
             [](const Item& one) { return one.rank().collectives.size(); }},
      Member{"point_to_point", "point to point", Unit::kCount, "sends and receives",
             [](const Item& one) { return one.rank().point_to_point; }},
      Member{"arrived_last", "last", Unit::kCount, "collectives in which it arrived last",
             [](const Item& one) { return one.ranks.arrivals.last[one.place]; }},
      Member{"waited_for_us", "waited for", Unit::kNanoseconds, "how long the others waited then",
             [](const Item& one) { return one.ranks.arrivals.wait_ns[one.place]; }},
      Member{"clock", "clock", Unit::kNone, "its clock; null if it cannot be compared",
             [](const Item& one) -> auto& { return one.ranks.clocks[one.place]; }}};
};

template <>
struct Description<UnreadableRank> {
  static constexpr const char* kName = "unreadable";
  static constexpr std::tuple kMembers{
      Member{"file", "file", Unit::kNone, "the file", &UnreadableRank::file},
      Member{"message", "message", Unit::kNone, "what is wrong", &UnreadableRank::message}};
};

template <>
struct Description<StragglerItem> {
  using Item = StragglerItem;
  static constexpr const char* kName = "straggler";
  static constexpr std::tuple kMembers{
      Member{"file", "file", Unit::kNone, "its trace",
             [](const Item& one) -> auto& { return one.rank().file; }},
      Member{"rank", "rank", Unit::kNumber, "its number",
             [](const Item& one) { return rank_number(one.rank()); }},
      Member{"arrived_last", "last", Unit::kCount, "compared collectives in which it arrived last",
             [](const Item& one) { return one.straggler.last; }},
      Member{"collectives", "of", Unit::kCount, "compared collectives with it",
             [](const Item& one) { return one.straggler.of; }},
      Member{"steps", "steps", Unit::kCount, "steps that contain those",
             [](const Item& one) { return one.straggler.steps; }},
      Member{"wait_us_per_step", "wait", Unit::kNanoseconds,
             "how long the median of the others waited for it",
             [](const Item& one) { return one.per_step(one.straggler.wait_ns); }},
      Member{"alone_us_per_step", "alone", Unit::kNanoseconds,
             "how much later it arrived than the second to last",
             [](const Item& one) { return one.per_step(one.straggler.alone_ns); }},
      Member{"cause", "cause", Unit::kNone, "what it did longer than the others",
             [](const Item& one) { return one.straggler.cause; }},
      Member{"cause_us_per_step", "longer", Unit::kNanoseconds, "how much longer",
             [](const Item& one) {
               return one.straggler.cause ? std::optional(one.per_step(one.straggler.cause_ns))
                                          : std::nullopt;
             }},
      Member{"name", "event", Unit::kNone, "the kernel or host event that took longer",
             [](const Item& one) { return if_known(one.straggler.name); }}};
};

template <>
struct Description<analysis::CollectiveKind> {
  using Kind = analysis::CollectiveKind;
  static constexpr const char* kName = "collective";
  static constexpr std::tuple kMembers{
      Member{"kind", "kind", Unit::kNone, "the kind of collective", &Kind::kind},
      Member{"group", "group", Unit::kNone, "its process group; null if it is not recorded",
             [](const Kind& one) { return if_known(one.group.name); }},
      Member{"group_size", "ranks", Unit::kCount, "ranks of the group",
             [](const Kind& one) { return one.group.size; }},
      Member{"count", "count", Unit::kCount, "number of collectives", &Kind::count},
      Member{"bytes_mean", "size", Unit::kBytes, "bytes of the whole tensor", &Kind::bytes},
      Member{"duration_us_mean", "time", Unit::kNanoseconds, "duration on the median rank",
             &Kind::time_ns},
      Member{"skew_us_mean", "skew", Unit::kNanoseconds, "from the first arrival to the last",
             &Kind::skew_ns},
      Member{"wait_us_mean", "wait", Unit::kNanoseconds,
             "how long the median rank waits for the last one", &Kind::wait_ns},
      Member{"transfer_us_mean", "transfer", Unit::kNanoseconds, "from the last arrival to the end",
             &Kind::transfer_ns},
      Member{"algorithm_gb_per_s", "algorithm", Unit::kBytesPerNs,
             "bytes of the tensor over the transfer", &Kind::algorithm_rate},
      Member{"bus_gb_per_s", "bus", Unit::kBytesPerNs, "bytes of each link over the transfer",
             &Kind::bus_rate}};
};

template <>
struct Description<RemedyItem> {
  using Item = RemedyItem;
  static constexpr const char* kName = "remedy";
  static constexpr std::tuple kMembers{
      Member{"remedy", "remedy", Unit::kNone, "what could help",
             [](const Item& one) { return one.advice.remedy; }},
      Member{"file", "file", Unit::kNone, "the trace of the rank that it is about",
             [](const Item& one) {
               return one.is_about_rank() ? std::optional(one.ranks.ranks[one.advice.rank].file)
                                          : std::nullopt;
             }},
      Member{"kind", "kind", Unit::kNone, "the kind of collective that it is about",
             [](const Item& one) { return if_known(one.advice.kind); }},
      Member{"group", "group", Unit::kNone, "its process group",
             [](const Item& one) {
               return one.is_about_rank() ? std::nullopt : std::optional(one.advice.group.name);
             }},
      Member{"saving_us_per_step_max", "at most", Unit::kNanoseconds,
             "the most that it can save of a step of the median rank",
             [](const Item& one) { return one.advice.at_most_ns; }}};
};

template <>
struct Description<RanksResult> {
  using Result = RanksResult;
  static constexpr const char* kName = "ranks";
  static constexpr std::tuple kMembers{
      Member{"world_size", "ranks", Unit::kCount, "ranks of the job",
             [](const Result& one) { return one.ranks.world_size; }},
      Member{"ranks", "ranks", Unit::kNone, "every rank with a file", &Result::rank_items},
      Member{"unreadable", "unreadable", Unit::kNone, "files that could not be read",
             &Result::unreadable},
      Member{"compared", "compared", Unit::kCount, "collectives that are compared",
             [](const Result& one) { return one.ranks.arrivals.compared; }},
      Member{"not_compared", "not compared", Unit::kCount,
             "collectives that some file of their group lacks",
             [](const Result& one) { return one.ranks.arrivals.not_compared; }},
      Member{"stragglers", "stragglers", Unit::kNone, "ranks that the others wait for",
             &Result::straggler_items},
      Member{"straggler_reason", "reason", Unit::kNone, "why no rank is named, or \"named\"",
             [](const Result& one) { return one.ranks.arrivals.reason; }},
      Member{"collectives", "collectives", Unit::kNone, "by kind and group, the longest first",
             [](const Result& one) -> auto& { return one.ranks.kinds; }},
      Member{"advice", "advice", Unit::kNone, "what could make communication shorter",
             &Result::remedy_items}};
};

}  // namespace epi::report
