// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/compare/compare.h"
#include "epilogue/cli/run/paid_back.h"
#include "epilogue/cli/tour/tour.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/units.h"

namespace epi::cli {

namespace {

// What the table's wall column shows, where nine of ten turns agree.
std::string wall_text(const LessonResult& result) {
  const Spread& saved = *result.saving;
  const std::optional<bool> faster = is_faster(saved);
  if (!faster) return "Turns with the eager block do not agree which is faster.";
  return fmt::format("A forward is {} {}, by turns with the eager block.",
                     report::time_text(std::abs(saved.median)), *faster ? "shorter" : "longer");
}

}  // namespace

std::vector<std::string> tour_verdicts(const std::vector<LessonResult>& results) {
  std::vector<std::string> sentences;
  for (const LessonResult& result : results) {
    if (result.compared_with == SIZE_MAX) continue;
    const analysis::TraceIndex before(results[result.compared_with].trace);
    const analysis::TraceIndex after(result.trace);
    const auto comparison = analysis::compare(before, after, std::nullopt);
    sentences.push_back(fmt::format("{}: {} {}", result.mode, report::work_verdict_text(comparison),
                                    wall_text(result)));
  }
  return sentences;
}

std::vector<std::string> tour_advice(const std::vector<LessonResult>& results) {
  std::vector<std::string> sentences;
  for (const LessonResult& result : results) {
    if (result.compared_with != SIZE_MAX) continue;
    const analysis::TraceIndex index(result.trace);
    const auto advised = analysis::advise(index, std::nullopt);
    sentences.push_back(fmt::format("{}, {}", result.mode, report::verdict_line(advised)));
  }
  return sentences;
}

}  // namespace epi::cli
