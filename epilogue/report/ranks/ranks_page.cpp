// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks/ranks_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "epilogue/report/ranks/ranks_parts.h"
#include "epilogue/report/text/html_text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::RankCollective;
using analysis::RankData;
using analysis::Ranks;

// In units of the drawing.
constexpr double kLabels = 90;
constexpr double kWidth = 1100;  // of the time
constexpr double kLane = 16;
constexpr double kPitch = 22;
constexpr size_t kMaxDrawn = 200;  // collectives per lane

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6edf3); --quiet: light-dark(#59636e, #9198a1);
  --paper: light-dark(#ffffff, #0d1117); --line: light-dark(#d1d9e0, #3d444d); --bad: light-dark(#cf222e, #f85149);
  --compute: light-dark(#24766b, #689a72); --copies: light-dark(#611d56, #c88bb3); --loading: light-dark(#673c9f, #a762bd);
  --sync: light-dark(#3994e3, #62a9f3); --host: light-dark(#d4780b, #f39d38); --unknown: light-dark(#8f8f8f, #696c71);
  --wait: light-dark(#f3b3ba, #5c2b22); --transfer: light-dark(#db364b, #da5531); }
body { margin: 16px; color: var(--ink); background: var(--paper); font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 16px; } h2 { font-size: 15px; margin: 20px 0 6px; } p { margin: 2px 0; max-width: 110ch; }
table { border-collapse: collapse; margin: 6px 0; } th, td { padding: 2px 10px; border-bottom: 1px solid var(--line); text-align: left; }
.right { text-align: right; font-variant-numeric: tabular-nums; } .quiet { color: var(--quiet); }
svg { width: 100%; height: auto; } text { fill: var(--ink); font-size: 12px; } .late { fill: var(--bad); font-weight: 600; }
.links { fill: none; stroke: var(--ink); stroke-opacity: .45; stroke-width: 1; } .axis { stroke: var(--line); }
.item { white-space: nowrap; margin-right: 12px; }
.key { display: inline-block; width: 12px; height: 12px; margin-right: 4px; vertical-align: -1px; }
.compute { fill: var(--compute); background: var(--compute); } .copies { fill: var(--copies); background: var(--copies); }
.loading { fill: var(--loading); background: var(--loading); } .sync { fill: var(--sync); background: var(--sync); }
.host { fill: var(--host); background: var(--host); } .unknown { fill: var(--unknown); background: var(--unknown); }
.wait { fill: var(--wait); background: var(--wait); } .transfer { fill: var(--transfer); background: var(--transfer); }
)";

struct Look {
  const char* css;  // the class
  const char* name;
};
constexpr Look kBetweenLooks[] = {
    {"compute", "compute"},           {"copies", "copies"},
    {"loading", "data loading"},      {"sync", "synchronization"},
    {"host", "waiting for the host"}, {"unknown", "not in the trace"}};
constexpr Look kWait = {"wait", "waiting for the last rank"};
constexpr Look kTransfer = {"transfer", "transfer"};

// The ranks that are drawn, by the clock of the first.
struct Lanes {
  std::vector<size_t> ranks;
  double begin_ns = 0;
  double end_ns = 0;
  int64_t step = 0;
  bool is_cut = false;  // the step has more collectives than are drawn

  double x(double ns) const {
    return kLabels + kWidth * (ns - begin_ns) / std::max(1.0, end_ns - begin_ns);
  }
};

// Large times keep their digits: everything is relative to this.
int64_t origin_of(const Ranks& ranks) {
  for (const RankData& rank : ranks.ranks) {
    if (!rank.steps.empty()) return rank.steps[0].when.begin;
  }
  return 0;
}

double by_first_clock(const Ranks& ranks, size_t rank, int64_t ns, int64_t origin) {
  const double offset = ranks.clocks[rank] ? ranks.clocks[rank]->offset_ns : 0;
  return static_cast<double>(ns - origin) - offset;
}

// The step of the first rank with the median duration, which most ranks should have.
std::optional<int64_t> shown_step(const Ranks& ranks) {
  for (const RankData& rank : ranks.ranks) {
    std::vector<const analysis::RankStep*> steps;
    for (const auto& step : rank.steps) {
      if (step.is_judged) steps.push_back(&step);
    }
    if (steps.empty()) continue;
    std::stable_sort(steps.begin(), steps.end(), [](const auto* a, const auto* b) {
      return a->shares.window_ns < b->shares.window_ns;
    });
    return steps[(steps.size() - 1) / 2]->number;
  }
  return std::nullopt;
}

const analysis::RankStep* find_step(const RankData& rank, int64_t number) {
  const auto found = std::find_if(rank.steps.begin(), rank.steps.end(),
                                  [&](const auto& step) { return step.number == number; });
  return found == rank.steps.end() ? nullptr : &*found;
}

// The collectives of a rank in the step, at most kMaxDrawn.
std::pair<size_t, size_t> drawn(const RankData& rank, const analysis::RankStep& step) {
  const auto starts_before = [](const RankCollective& one, int64_t ns) {
    return one.when.begin < ns;
  };
  const auto begin = std::lower_bound(rank.collectives.begin(), rank.collectives.end(),
                                      step.when.begin, starts_before);
  const auto end = std::lower_bound(begin, rank.collectives.end(), step.when.end, starts_before);
  const auto first = static_cast<size_t>(begin - rank.collectives.begin());
  return {first, std::min(static_cast<size_t>(end - rank.collectives.begin()), first + kMaxDrawn)};
}

Lanes lanes_of(const Ranks& ranks, int64_t step, int64_t origin) {
  Lanes lanes;
  lanes.step = step;
  bool is_first = true;
  for (size_t i = 0; i < ranks.ranks.size() && lanes.ranks.size() < kMaxLanes; ++i) {
    const RankData& rank = ranks.ranks[i];
    const analysis::RankStep* found = find_step(rank, step);
    if (found == nullptr) continue;
    lanes.ranks.push_back(i);
    const auto [first, last] = drawn(rank, *found);
    const bool is_cut = last - first == kMaxDrawn;
    lanes.is_cut |= is_cut;
    const double begin = by_first_clock(ranks, i, found->when.begin, origin);
    const double end = by_first_clock(
        ranks, i, is_cut ? rank.collectives[last - 1].when.end : found->when.end, origin);
    lanes.begin_ns = is_first ? begin : std::min(lanes.begin_ns, begin);
    lanes.end_ns = is_first ? end : std::max(lanes.end_ns, end);
    is_first = false;
  }
  return lanes;
}

// Where the last member of each matched collective arrived: from the end of its kernel backwards.
std::map<std::pair<size_t, size_t>, double> transfers_of(const Ranks& ranks) {
  std::map<std::pair<size_t, size_t>, double> result;  // by rank and place
  for (const auto& one : analysis::compared_collectives(ranks.ranks, ranks.groups)) {
    for (size_t member = 0; member < one.members.size(); ++member) {
      const auto at = static_cast<size_t>(one.match().at[member]);
      result[{one.group->members[member], at}] = one.transfer_ns;
    }
  }
  return result;
}

class Drawing {
 public:
  Drawing(const Ranks& ranks, const Lanes& lanes, int64_t origin)
      : ranks_(ranks), lanes_(lanes), origin_(origin), transfers_(transfers_of(ranks)) {}

  std::string svg() {
    const double height = kPitch * static_cast<double>(lanes_.ranks.size()) + 30;
    out_ = fmt::format(
        "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"One step, a lane per "
        "rank\">\n",
        kLabels + kWidth + 10, height);
    for (size_t lane = 0; lane < lanes_.ranks.size(); ++lane) draw_lane(lane);
    draw_links();
    draw_axis(height);
    return out_ + "</svg>\n";
  }

 private:
  void rect(const Look& look, double from, double to, size_t lane, const std::string& title) {
    const double begin = std::max(from, lanes_.begin_ns);
    const double end = std::min(to, lanes_.end_ns);
    if (begin >= end) return;
    fmt::format_to(
        std::back_inserter(out_),
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\">"
        "<title>{}</title></rect>\n",
        look.css, lanes_.x(begin), kPitch * static_cast<double>(lane),
        lanes_.x(end) - lanes_.x(begin), kLane, html_text(title));
  }

  void draw_lane(size_t lane) {
    const size_t place = lanes_.ranks[lane];
    const RankData& rank = ranks_.ranks[place];
    const auto& stragglers = ranks_.arrivals.stragglers;
    const bool is_late = std::any_of(stragglers.begin(), stragglers.end(),
                                     [&](const auto& one) { return one.rank == place; });
    fmt::format_to(
        std::back_inserter(out_),
        "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\"{}>{}{}<title>{}</title></text>\n",
        kLabels - 8, kPitch * static_cast<double>(lane) + 13, is_late ? " class=\"late\"" : "",
        is_late ? "late: " : "", html_text(rank_name(rank)), html_text(rank.file));
    const analysis::RankStep& step = *find_step(rank, lanes_.step);
    const auto [first, last] = drawn(rank, step);
    double free_from =
        first == 0 ? by_first_clock(ranks_, place, step.when.begin, origin_)
                   : by_first_clock(ranks_, place, rank.collectives[first - 1].when.end, origin_);
    for (size_t i = first; i < last; ++i) draw_collective(lane, place, i, free_from);
  }

  // What the rank did since the preceding collective, then the collective.
  void draw_collective(size_t lane, size_t place, size_t at, double& free_from) {
    const RankData& rank = ranks_.ranks[place];
    const RankCollective& one = rank.collectives[at];
    const double begin = by_first_clock(ranks_, place, one.when.begin, origin_);
    const double end = by_first_clock(ranks_, place, one.when.end, origin_);
    double from = free_from;
    if (at == 0) {  // the file begins later than the step
      double before = 0;
      for (const int64_t ns : one.before) before += static_cast<double>(ns);
      from = begin - before;
    }
    for (size_t kind = 0; kind < analysis::kBetweens; ++kind) {
      const auto ns = static_cast<double>(one.before[kind]);
      rect(kBetweenLooks[kind], from, std::min(from + ns, begin), lane,
           fmt::format("{}: {}", kBetweenLooks[kind].name, time_text(ns)));
      from += ns;
    }
    const std::string& name = rank.kinds[one.kind];
    const auto transfer = transfers_.find({place, at});
    const double arrived = transfer == transfers_.end() ? begin : end - transfer->second;
    rect(kWait, begin, arrived, lane,
         fmt::format("{}: waits {}", name, time_text(arrived - begin)));
    rect(kTransfer, arrived, end, lane, fmt::format("{}: {}", name, time_text(end - arrived)));
    free_from = std::max(free_from, end);
  }

  // A line through the arrivals at one collective.
  void draw_links() {
    std::map<size_t, size_t> lane_of;
    for (size_t lane = 0; lane < lanes_.ranks.size(); ++lane) lane_of[lanes_.ranks[lane]] = lane;
    for (const auto& group : ranks_.groups) {
      for (const auto& match : group.matches) {
        std::string points;
        size_t count = 0;
        for (size_t member = 0; member < group.members.size(); ++member) {
          const size_t place = group.members[member];
          const auto lane = lane_of.find(place);
          if (lane == lane_of.end() || match.at[member] < 0) continue;
          const auto& one = ranks_.ranks[place].collectives[static_cast<size_t>(match.at[member])];
          const double begin = by_first_clock(ranks_, place, one.when.begin, origin_);
          if (begin < lanes_.begin_ns || begin > lanes_.end_ns) continue;
          points += fmt::format("{:.2f},{:.1f} ", lanes_.x(begin),
                                kPitch * static_cast<double>(lane->second) + kLane / 2);
          ++count;
        }
        if (count > 1) out_ += fmt::format("<polyline class=\"links\" points=\"{}\"/>\n", points);
      }
    }
  }

  void draw_axis(double height) {
    constexpr int kTicks = 5;
    for (int i = 0; i <= kTicks; ++i) {
      const double ns = lanes_.begin_ns + (lanes_.end_ns - lanes_.begin_ns) * i / kTicks;
      const double x = lanes_.x(ns);
      fmt::format_to(std::back_inserter(out_),
                     "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\"/>"
                     "<text x=\"{0:.1f}\" y=\"{2:.0f}\" text-anchor=\"{3}\">{4}</text>\n",
                     x, height - 24, height - 8,
                     i == 0        ? "start"
                     : i == kTicks ? "end"
                                   : "middle",
                     time_text(ns - lanes_.begin_ns));
    }
  }

  const Ranks& ranks_;
  const Lanes& lanes_;
  int64_t origin_;
  std::map<std::pair<size_t, size_t>, double> transfers_;
  std::string out_;
};

std::string legend() {
  std::string out = "<p class=\"quiet\">";
  const auto add = [&](const Look& look) {
    out += fmt::format("<span class=\"item\"><span class=\"key {}\"></span>{}</span> ", look.css,
                       look.name);
  };
  for (const Look& look : kBetweenLooks) add(look);
  add(kWait);
  add(kTransfer);
  return out + "</p>\n";
}

std::string lanes_section(const Ranks& ranks) {
  const auto step = shown_step(ranks);
  if (!step) return "";
  const int64_t origin = origin_of(ranks);
  const Lanes lanes = lanes_of(ranks, *step, origin);
  std::string out =
      fmt::format("<h2>Step {}</h2>\n{}{}", *step, legend(), Drawing(ranks, lanes, origin).svg());
  out +=
      "<p class=\"quiet\">Between two collectives, colors show how much time a rank spent on what, "
      "not in which "
      "order. A line connects the arrivals at one collective.";
  if (lanes.is_cut)
    out += fmt::format(" Only the first {} collectives of the step are drawn.", kMaxDrawn);
  if (lanes.ranks.size() < ranks.ranks.size()) {
    out += fmt::format(" {} more ranks are not drawn.", ranks.ranks.size() - lanes.ranks.size());
  }
  return out + "</p>\n";
}

}  // namespace

std::string ranks_page(const Ranks& ranks, const std::string& source) {
  const std::string title = html_text(ranks_title(ranks, source, 200));
  std::string out = fmt::format(
      "<!doctype html>\n<!-- SPDX-License-Identifier: Apache-2.0. Written by Epilogue. -->\n<html "
      "lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"generator\" content=\"epilogue report\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n"
      "<body>\n<h1>{0}</h1>\n",
      title, kStyle);
  for (const std::string& sentence : ranks_sentences(ranks)) {
    out += fmt::format("<p>{}</p>\n", html_text(sentence));
  }
  out += lanes_section(ranks) + "<h2>Ranks</h2>\n" + ranks_table(ranks).html();
  if (const Table kinds = kinds_table(ranks); !kinds.is_empty()) {
    out += "<h2>Collectives</h2>\n" + kinds.html();
  }
  if (const Table advice = advice_table(ranks, SIZE_MAX); !advice.is_empty()) {
    out += "<h2>What could help</h2>\n" + advice.html();
  }
  return out + "</body>\n</html>\n";
}

}  // namespace epi::report
