// SPDX-License-Identifier: Apache-2.0
// The advice on the first screen.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "epilogue/report/advise_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/screen_parts.h"
#include "epilogue/report/table.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::AdviceKind;
using analysis::Diagnosis;

constexpr size_t kShownAdvice = 3;

// "67.26 us GPU (50 to 108 us)", both ends in the unit of the estimate.
std::string device_saving_text(const analysis::Advice& advice, const char* device) {
  const analysis::Estimate& saving = advice.saving_ns;
  const double unit = saving.likely < 1e3   ? 1
                      : saving.likely < 1e6 ? 1e3
                      : saving.likely < 1e9 ? 1e6
                                            : 1e9;
  const auto number = [&](double ns) {
    return fmt::format("{:.{}f}", ns / unit, ns > 0 && ns < 10 * unit ? 1 : 0);
  };
  const char* unit_name = unit == 1 ? "ns" : unit == 1e3 ? "us" : unit == 1e6 ? "ms" : "s";
  if (advice.confidence == analysis::Confidence::kNotConclusive) {
    return fmt::format("{} to {} {} {}, unsure", number(saving.low), number(saving.high), unit_name,
                       device);
  }
  return fmt::format("{} {} ({} to {} {})", time_text(saving.likely), device, number(saving.low),
                     number(saving.high), unit_name);
}

// The saving in addition to the advice above. Savings of host time are upper bounds.
std::string step_saving_text(const analysis::Advice& advice, double saved_ns) {
  if (advice.kind == AdviceKind::kBatch) return "throughput only";
  if (saved_ns < 1) return "nothing further";
  if (advice.confidence == analysis::Confidence::kNotConclusive) {
    return fmt::format("up to {}, unsure", time_text(saved_ns));
  }
  const bool at_most = advice.kind != AdviceKind::kSync;
  return fmt::format("{}{}", at_most ? "at most " : "", time_text(saved_ns));
}

// "instead of 2: " if the last piece of advice is about events of an earlier one.
std::string alternative_text(const std::vector<const analysis::Advice*>& shown) {
  const analysis::Advice& last = *shown.back();
  if (!last.overlaps) return "";
  const std::unordered_set<trace::EventId> events(last.events.begin(), last.events.end());
  for (size_t i = 0; i + 1 < shown.size(); ++i) {
    const auto& others = shown[i]->events;
    const bool shares =
        shown[i]->on_device && std::any_of(others.begin(), others.end(),
                                           [&](trace::EventId id) { return events.contains(id); });
    if (shares) return fmt::format("instead of {}: ", i + 1);
  }
  return "or ";
}

}  // namespace

RankedAdvice ranked_advice(const ScreenData& data) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  RankedAdvice ranked{
      Table({{"what could help, ranked", Align::kLeft},
             {"saves", Align::kLeft},
             {diagnosis.whole_trace ? "after (limit)" : "step after (limit)", Align::kLeft}}),
      {}};
  const char* device = data.summary.cpu_kernels ? "kernels" : "GPU";
  std::vector<const analysis::Advice*>& shown = ranked.rows;
  const double step_ns =
      static_cast<double>(diagnosis.window_ns()) / static_cast<double>(diagnosis.judged);
  double before_ns = step_ns;
  for (const auto& advice : data.advised.advice) {
    if (shown.size() == kShownAdvice) break;
    constexpr double kWorthShare = 0.001;
    if (advice.saving_ns.likely <= kWorthShare * step_ns) continue;
    shown.push_back(&advice);
    const double saved_ns = before_ns - advice.step_after_ns;
    before_ns = advice.step_after_ns;
    const bool sure = advice.confidence != analysis::Confidence::kNotConclusive;
    const bool is_sequel = advice.is_timed && !advice.overlaps;
    const std::string then =
        fmt::format("{} ({})", time_text(advice.step_after_ns), short_of(advice.then_limited_by));
    // GPU work off the critical path shortens the step only if it is GPU-bound without the
    // profiler.
    const bool hidden = is_sequel && advice.on_device && saved_ns < 1;
    ranked.table.add_row(
        {fmt::format("{} {}{}", shown.size(), alternative_text(shown), short_title(advice)),
         advice.on_device ? device_saving_text(advice, device) : step_saving_text(advice, saved_ns),
         !is_sequel || !sure ? "-"
         : hidden            ? "if GPU-bound"
                             : then});
  }
  return ranked;
}

std::string advice_text(const ScreenData& data, size_t width) {
  const RankedAdvice ranked = ranked_advice(data);
  return ranked.rows.empty() ? "" : '\n' + ranked.table.text(width);
}

}  // namespace epi::report
