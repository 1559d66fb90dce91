// SPDX-License-Identifier: Apache-2.0
// The sentences that close the tour: comparisons with the baselines, and advice on the eager
// traces.
#include <fmt/format.h>

#include <cmath>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/compare/compare.h"
#include "epilogue/cli/run/break_even.h"
#include "epilogue/cli/tour/tour.h"
#include "epilogue/report/advise/advise_report.h"
#include "epilogue/report/compare/compare_report.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {

namespace {

// The difference in the table's wall column, if nine of ten rounds agree.
std::string wall_text(const LessonResult& result) {
  const Spread& saved = *result.saving;
  const std::optional<bool> faster = is_faster(saved);
  if (!faster) return "The rounds disagree on which is faster.";
  return fmt::format("A forward takes {} {} than eager.", report::time_text(std::abs(saved.median)),
                     *faster ? "less" : "more");
}

}  // namespace

std::vector<std::string> tour_verdicts(const std::vector<LessonResult>& results) {
  std::vector<std::string> sentences;
  for (const LessonResult& result : results) {
    if (result.baseline == SIZE_MAX) continue;
    const LessonResult& baseline = results[result.baseline];
    const auto comparison =
        analysis::compare(baseline.loaded->models(), result.loaded->models(), std::nullopt);
    sentences.push_back(fmt::format("{}: {} {}", result.mode, report::work_verdict_text(comparison),
                                    wall_text(result)));
  }
  return sentences;
}

std::vector<std::string> tour_advice(const std::vector<LessonResult>& results) {
  std::vector<std::string> sentences;
  for (const LessonResult& result : results) {
    if (result.baseline != SIZE_MAX) continue;
    const auto advice = analysis::advise(result.loaded->models(), std::nullopt);
    sentences.push_back(fmt::format("{}, {}", result.mode, report::verdict_line(advice)));
  }
  return sentences;
}

}  // namespace epi::cli
