// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/report/compare/compare_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

constexpr size_t kShownRanks = 16;

const analysis::Comparison& comparison(const RankComparison& rank) {
  return rank.result->comparison;
}

const analysis::GroupComparison& main_group(const RankComparison& rank) {
  return comparison(rank).groups[comparison(rank).main_group];
}

// When the GPU is busy, if kernels overlap: the sum of their times would count time twice.
double gpu_ns(const RankComparison& rank, const analysis::Side& side) {
  return main_group(rank).overlaps() ? side.median.busy_ns : side.median.gpu_ns;
}

double change_ns(const RankComparison& rank) {
  if (comparison(rank).groups.empty()) return 0;
  return gpu_ns(rank, main_group(rank).b) - gpu_ns(rank, main_group(rank).a);
}

std::string share_text(double a, double b) {
  return a > 0 ? fmt::format("{:+.1f} %", 100 * (b / a - 1)) : "-";
}

// The rank whose GPU work differs, or else whose GPU time changed most.
size_t most_different(const std::vector<RankComparison>& ranks) {
  const auto less = [](const RankComparison& a, const RankComparison& b) {
    const bool a_same = comparison(a).same_gpu_work();
    const bool b_same = comparison(b).same_gpu_work();
    if (a_same != b_same) return a_same;
    return std::abs(change_ns(a)) < std::abs(change_ns(b));
  };
  return static_cast<size_t>(std::max_element(ranks.begin(), ranks.end(), less) - ranks.begin());
}

}  // namespace

std::string text_of(const std::vector<RankComparison>& ranks, const Style& style) {
  std::vector<RankComparison> shown = ranks;
  const bool folds = !style.markdown && shown.size() > kShownRanks;
  if (folds) {
    std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) {
      return std::abs(change_ns(a)) > std::abs(change_ns(b));
    });
    shown.resize(kShownRanks);
  }
  Table table({{"rank", Align::kLeft},
               {"GPU time A", Align::kRight},
               {"B", Align::kRight},
               {"change", Align::kRight},
               {"kernels A", Align::kRight},
               {"B", Align::kRight},
               {"GPU work", Align::kLeft}});
  for (const RankComparison& rank : shown) {
    if (comparison(rank).groups.empty()) {
      table.add_row({rank.name, "-", "-", "-", "-", "-", "nothing in common"});
      continue;
    }
    const analysis::GroupComparison& group = main_group(rank);
    const double a = gpu_ns(rank, group.a);
    const double b = gpu_ns(rank, group.b);
    table.add_row({rank.name, time_text(a), time_text(b), share_text(a, b),
                   count_text(group.a.median.kernels), count_text(group.b.median.kernels),
                   comparison(rank).same_gpu_work() ? "the same" : "differs"});
  }
  std::string out = style.markdown ? table.markdown() : table.text(style.width);
  if (folds) {
    out += fmt::format("{} more ranks, with smaller changes: --json, --md\n",
                       ranks.size() - kShownRanks);
  }
  const RankComparison& most = ranks[most_different(ranks)];
  const bool differs = !comparison(most).same_gpu_work() || change_ns(most) != 0;
  return out + fmt::format("\n{} {}{}:\n\n{} against {}\n{}",
                           differs ? "Rank" : "No rank differs. Rank", most.name,
                           differs ? " differs most" : "", most.result->file, most.result->against,
                           text_of(*most.result, style));
}

}  // namespace epi::report
