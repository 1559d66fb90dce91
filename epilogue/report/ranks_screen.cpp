// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/analysis/time/bound.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::report {
namespace {

using analysis::Limiter;

constexpr size_t kShownRanks = 8;
constexpr size_t kShownKinds = 3;  // of collectives

double communication_ns(const analysis::TraceIndex& index, const analysis::Interval& window) {
  analysis::Intervals times;
  for (const trace::EventId id : index.ownership.everything().work) {
    const analysis::Bound bound = analysis::typical_bound_of_work(index, id);
    if (bound != analysis::Bound::kCommunication) continue;
    const int64_t begin = std::max(window.begin, index.trace.ts_ns[id]);
    const int64_t end = std::min(window.end, index.trace.end_ns(id));
    if (begin < end) times.push_back({begin, end});
  }
  double sum = 0;
  for (const analysis::Interval& one : analysis::merged(std::move(times))) {
    sum += static_cast<double>(one.end - one.begin);
  }
  return sum;
}

bool is_conclusive(const RankScreen& rank) {
  return rank.limiter != Limiter::kNotConclusive && rank.limiter != Limiter::kNotInFile;
}

// Why ranks have no conclusive limit.
std::string unexplained_text(const std::vector<RankScreen>& ranks) {
  double least = 1;
  double most = 0;
  for (const RankScreen& rank : ranks) {
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

// "6 of 8 ranks are host-bound, 2 mixed", the most frequent first.
std::string limiters_text(const std::vector<RankScreen>& ranks) {
  std::map<std::string, size_t> counts;
  for (const RankScreen& rank : ranks)
    ++counts[is_conclusive(rank) ? regime_of(rank.limiter) : "without a clear bottleneck"];
  std::vector<std::pair<std::string, size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [regime, count] : order) {
    parts.push_back(parts.empty() ? fmt::format("{} of {} ranks {} {}", count, ranks.size(),
                                                count == 1 ? "is" : "are", regime)
                                  : fmt::format("{} {}", count, regime));
  }
  return join(parts, ", ") + unexplained_text(ranks);
}

int64_t world_size(const std::vector<RankScreen>& ranks) {
  int64_t size = 0;
  for (const RankScreen& rank : ranks) size = std::max(size, rank.world_size);
  return size;
}

bool is_incomplete(const std::vector<RankScreen>& ranks) {
  return world_size(ranks) > static_cast<int64_t>(ranks.size());
}

std::vector<std::vector<analysis::CollectiveTime>> collectives_of(
    const std::vector<RankScreen>& ranks) {
  std::vector<std::vector<analysis::CollectiveTime>> collectives;
  for (const RankScreen& rank : ranks) collectives.push_back(rank.collectives);
  return collectives;
}

// The kinds of collectives that take the most time. Nothing if ranks are missing: the one that
// arrived last may be one of them.
std::string collectives_text(const std::vector<RankScreen>& ranks) {
  if (is_incomplete(ranks)) return "";
  const auto kinds = analysis::collective_kinds(collectives_of(ranks));
  if (kinds.empty()) return "";
  Table table({{"collective", Align::kLeft},
               {"group", Align::kLeft},
               {"count", Align::kRight},
               {"bytes", Align::kRight},
               {"wait", Align::kRight},
               {"transfer", Align::kRight},
               {"bus bandwidth", Align::kRight}});
  for (size_t i = 0; i < std::min(kinds.size(), kShownKinds); ++i) {
    const analysis::CollectiveKind& kind = kinds[i];
    table.add_row({shortened(visible_text(kind.kind, LineBreaks::kReplace), 16),
                   kind.group.empty()
                       ? "(world)"
                       : shortened(visible_text(kind.group, LineBreaks::kReplace), 10),
                   fmt::format("{}", kind.count), kind.bytes ? bytes_text(*kind.bytes) : "?",
                   time_text(kind.wait_ns), time_text(kind.transfer_ns),
                   kind.bus_rate ? bandwidth_text(*kind.bus_rate) : "?"});
  }
  return '\n' + table.text();
}

// Which rank the others wait for, or why none is named.
std::string waiting_text(const std::vector<RankScreen>& ranks) {
  const auto [least, most] = std::minmax_element(
      ranks.begin(), ranks.end(),
      [](const auto& a, const auto& b) { return a.communication_ns < b.communication_ns; });
  if (most->communication_ns <= 0) return "No collectives in these traces.";
  const std::string times =
      fmt::format("Collectives take {} to {} per step.", time_text(least->communication_ns),
                  time_text(most->communication_ns));
  if (is_incomplete(ranks)) {
    return fmt::format("{} No straggler is named: these are {} of {} ranks.", times, ranks.size(),
                       world_size(ranks));
  }
  const analysis::Arrivals arrivals = analysis::arrivals(collectives_of(ranks));
  if (!arrivals.match) {
    return times + " No straggler is named: the files contain different collectives.";
  }
  if (arrivals.collectives == 0) {
    return times + " No straggler is named: in no collective do all ranks wait for each other.";
  }
  const auto last = std::max_element(arrivals.last.begin(), arrivals.last.end());
  const std::string often = fmt::format(
      "{} of {}", *last, plural(static_cast<double>(arrivals.collectives), "collective"));
  const char* subgroups =
      arrivals.of_subgroups == 0 ? "" : " Collectives of smaller groups are not compared.";
  if (!arrivals.straggler) {
    return fmt::format("{} No straggler: no rank arrives last in more than {}.{}", times, often,
                       subgroups);
  }
  const RankScreen& rank = ranks[*arrivals.straggler];
  const auto steps = static_cast<double>(std::max<int64_t>(rank.steps, 1));
  return fmt::format("Rank {} arrives last in {}. The median rank waits {} per step for it{}.{}",
                     rank.name, often, time_text(arrivals.waited_ns / steps),
                     rank.steps > 1 ? "" : "; one step does not show whether it always does",
                     subgroups);
}

std::string header(const std::vector<RankScreen>& ranks, const std::string& source, size_t width) {
  const std::string name = std::filesystem::path(source).filename().string();
  const std::string device = ranks[0].device.empty() ? "GPU not named" : ranks[0].device;
  const std::string rest = fmt::format(" | {} ranks | {} each", ranks.size(),
                                       plural(static_cast<double>(ranks[0].steps), "step"));
  const std::string both = fmt::format("{} | {}", name, device);
  return shortened(both, width > rest.size() + 20 ? width - rest.size() : 20) + rest;
}

}  // namespace

RankScreen rank_screen(const analysis::TraceIndex& index, std::string name) {
  const ScreenData data = screen_data(index);
  RankScreen rank;
  rank.name = std::move(name);
  rank.device = data.summary.device;
  rank.steps = static_cast<int64_t>(data.summary.steps.instances.size());
  if (!data.advised.diagnosis) return rank;
  const analysis::Diagnosis& diagnosis = *data.advised.diagnosis;
  const auto judged = static_cast<double>(diagnosis.judged);
  const auto window_ns = static_cast<double>(diagnosis.window_ns());
  rank.limiter = diagnosis.limiter;
  rank.unexplained_share = diagnosis.unexplained_share();
  if (!diagnosis.largest().empty()) rank.limiter_share = diagnosis.share(diagnosis.largest()[0]);
  rank.step_ns = window_ns / judged;
  rank.busy_share = window_ns <= 0 ? 0 : static_cast<double>(diagnosis.busy_ns) / window_ns;
  rank.communication_ns = communication_ns(index, diagnosis.window) / judged;
  const auto world = trace::find_value(index.trace.property("distributedInfo"), "world_size");
  if (world) rank.world_size = trace::parse_integer_token(*world).value_or(0);
  rank.collectives = analysis::collective_times(index, rank.world_size);
  const auto best =
      std::find_if(data.advised.advice.begin(), data.advised.advice.end(),
                   [](const analysis::Advice& advice) { return advice.step_saving_ns > 0; });
  if (best != data.advised.advice.end()) rank.advice = short_title(*best);
  return rank;
}

std::string ranks_screen(const std::vector<RankScreen>& ranks, const std::string& source,
                         size_t width) {
  std::string out = header(ranks, source, width) + "\n\n";
  out += wrapped(limiters_text(ranks), width) + '\n' + wrapped(waiting_text(ranks), width) + "\n\n";
  std::vector<const RankScreen*> order;
  for (const RankScreen& rank : ranks) order.push_back(&rank);
  if (ranks.size() > kShownRanks) {
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->step_ns > b->step_ns; });
    order.resize(kShownRanks);
  }
  constexpr size_t kMaxName = 12;
  constexpr size_t kBetween = 55;  // width of the columns between the first and the last
  size_t name_width = 0;
  for (const RankScreen* rank : order) name_width = std::max(name_width, rank->name.size());
  name_width = std::min(name_width, kMaxName);
  const size_t taken = name_width + kBetween;
  Table table({{"rank", Align::kLeft},
               {"step", Align::kRight},
               {"GPU busy", Align::kRight},
               {"comm.", Align::kRight},
               {"limited by", Align::kLeft},
               {"helps most", Align::kLeft}});
  for (const RankScreen* rank : order) {
    const bool has_work = rank->limiter != Limiter::kNoDevice;
    const bool has_share = rank->limiter < Limiter::kMixed;
    table.add_row(
        {shortened(rank->name, name_width), has_work ? time_text(rank->step_ns) : "-",
         has_work ? fmt::format("{:.0f} %", 100 * rank->busy_share) : "-",
         has_work ? time_text(rank->communication_ns) : "-",
         fmt::format("{}{}", short_regime_of(rank->limiter),
                     has_share ? fmt::format(", {:.0f} %", 100 * rank->limiter_share) : ""),
         rank->advice.empty() ? "-"
                              : shortened(rank->advice, width > taken + 10 ? width - taken : 10)});
  }
  out += table.text();
  if (order.size() < ranks.size()) {
    out += fmt::format("{} more ranks, with shorter steps: --json\n", ranks.size() - order.size());
  }
  out += collectives_text(ranks);
  return out + "\nnext: epilogue RANK_FILE | breakdown FOLDER | advise RANK_FILE\n";
}

}  // namespace epi::report
