// SPDX-License-Identifier: Apache-2.0
// The advice on the first screen.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "epilogue/report/advise/advice_words.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/text/table.h"

namespace epi::report {
namespace {

using analysis::AdviceKind;
using analysis::Diagnosis;

constexpr size_t kShownAdvice = 3;

// "67.26 us (50 to 108)", both ends in the unit of the estimate.
std::string saving_cell(const analysis::Advice& advice) {
  const analysis::Estimate& saving = advice.saving_ns;
  const double unit = saving.likely < 1e3   ? 1
                      : saving.likely < 1e6 ? 1e3
                      : saving.likely < 1e9 ? 1e6
                                            : 1e9;
  const auto number = [&](double ns) {
    return fmt::format("{:.{}f}", ns / unit, ns > 0 && ns < 10 * unit ? 1 : 0);
  };
  return fmt::format("{} ({} to {}){}", time_text(saving.likely), number(saving.low),
                     number(saving.high),
                     advice.confidence == analysis::Confidence::kNotConclusive ? ", unsure" : "");
}

// "instead of 2: " if the last piece of advice is about events of an earlier one.
std::string alternative_text(const std::vector<const analysis::Advice*>& shown) {
  const analysis::Advice& last = *shown.back();
  if (!last.is_alternative) return "";
  const std::unordered_set<trace::EventId> events(last.events.begin(), last.events.end());
  for (size_t i = 0; i + 1 < shown.size(); ++i) {
    const auto& others = shown[i]->events;
    const bool shares = analysis::is_about_work(shown[i]->kind) &&
                        std::any_of(others.begin(), others.end(),
                                    [&](trace::EventId id) { return events.contains(id); });
    if (shares) return fmt::format("instead of {}: ", i + 1);
  }
  return "or ";
}

}  // namespace

RankedAdvice ranked_advice(const Overview& data) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  RankedAdvice ranked{
      Table({{"what could help, ranked", Align::kLeft},
             {diagnosis.whole_trace() ? "saves" : "saves of a step", Align::kLeft},
             {diagnosis.whole_trace() ? "after (limit)" : "step after (limit)", Align::kLeft}}),
      {}};
  std::vector<const analysis::Advice*>& shown = ranked.rows;
  for (const auto& advice : data.advised.advice) {
    if (shown.size() == kShownAdvice) break;
    constexpr double kWorthShare = 0.001;
    const bool is_worth =
        advice.saving_ns.likely > kWorthShare * static_cast<double>(diagnosis.step_ns());
    if (!is_worth) continue;
    shown.push_back(&advice);
    ranked.table.add_row(
        {fmt::format("{} {}{}", shown.size(), alternative_text(shown), short_title(advice)),
         saving_cell(advice),
         advice.has_step_after() ? fmt::format("{} ({})", time_text(advice.step_after_ns),
                                               words_of(advice.then_limited_by).brief)
                                 : "-"});
  }
  return ranked;
}

std::string advice_text(const Overview& data, size_t width) {
  const RankedAdvice ranked = ranked_advice(data);
  return ranked.rows.empty() ? "" : '\n' + ranked.table.text(width);
}

}  // namespace epi::report
