// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/advise/advice_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "epilogue/base/join.h"
#include "epilogue/report/description/described_table.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/text/units.h"
#include "epilogue/trace/step_name.h"

namespace epi::report {

using analysis::Advice;
using analysis::AdviceKind;
using analysis::AdviceReport;
using analysis::Estimate;
using analysis::Term;
using What = Term::What;

namespace {

std::string ops_text(const std::vector<std::string>& ops) {
  constexpr size_t kShown = 8;
  const size_t shown = std::min(ops.size(), kShown);
  std::string text = join(std::span(ops).first(shown), ", ");
  if (shown < ops.size()) text += fmt::format(" and {} more", ops.size() - shown);
  return text;
}

std::string brief_ops_text(const std::vector<std::string>& ops) {
  constexpr size_t kShown = 4;
  return ops.size() <= kShown
             ? ops_text(ops)
             : fmt::format("{} ops, {} to {}", ops.size(), ops.front(), ops.back());
}

void replace(std::string& text, std::string_view placeholder, const std::string& value) {
  const size_t at = text.find(placeholder);
  if (at != std::string::npos) text.replace(at, placeholder.size(), value);
}

std::string filled_in(std::string text, const Advice& advice) {
  replace(text, "{about}", ops_text(advice.about));
  replace(text, "{brief}", brief_ops_text(advice.about));
  replace(text, "{in}",
          advice.about.empty() ? "" : "; most of the time is in " + ops_text(advice.about));
  return text;
}

}  // namespace

std::span<const AdviceWords> Words<AdviceKind>::rows() {
  static constexpr AdviceWords kRows[] = {
#define EPI_ADVICE(kind, key, title, short_title, effect, needs, adviser) {key, title, short_title},
#include "epilogue/analysis/advise/advice.def"
#undef EPI_ADVICE
  };
  return kRows;
}

std::string advice_title(const Advice& advice) {
  return filled_in(words_of(advice.kind).title, advice);
}

std::string short_title(const Advice& advice) {
  return filled_in(words_of(advice.kind).short_title, advice);
}

std::span<const TermWords> Words<What>::rows() {
  static constexpr TermWords kRows[] = {
      {"gemms", Unit::kCount, "{} GEMMs", "{} GEMM"},
      {"take", Unit::kNanoseconds, "{}"},
      {"flops", Unit::kFlops, "{}"},
      {"tf32_peak", Unit::kTeraflopsPerSecond, "tf32 peak {} TFLOP/s"},
      {"share_of_peak", Unit::kShare, "{} of peak"},
      {"tiles", Unit::kCount, "{} tiles", "{} tile"},
      {"multiprocessors", Unit::kCount, "{} SMs", "{} SM"},
      {"filled_share", Unit::kShare, "waves {} full"},
      {"places", Unit::kCount, "{} places", "{} place"},
      {"kernels", Unit::kCount, "{} kernels", "{} kernel"},
      {"moves", Unit::kBytes, "{} moved"},
      {"would_move", Unit::kBytes, "would move {}"},
      {"measured_rate", Unit::kBytesPerNs, "at this trace's {}"},
      {"data_sheet_rate", Unit::kBytesPerNs, "at the data sheet's {}"},
      {"would_take", Unit::kNanoseconds, "would take {}"},
      {"mlps", Unit::kCount, "{} MLPs", "{} MLP"},
      {"between_gemms", Unit::kNanoseconds, "{} of it between the GEMMs"},
      {"copies", Unit::kCount, "{} copies", "{} copy"},
      {"gpu_waits", Unit::kNanoseconds, "the GPU waits {}"},
      {"of_step", Unit::kNanoseconds, "of {}"},
      {"launches", Unit::kCount, "{} launches", "{} launch"},
      {"rows_could_grow", Unit::kNumber, "rows could grow {} times"},
      {"calls", Unit::kCount, "{} calls", "{} call"},
      {"cpu_waits", Unit::kNanoseconds, "the CPU waits {}"},
      {"idle_after", Unit::kNanoseconds, "then the GPU idles {}"},
      {"guard_checks", Unit::kCount, "{} guard checks", "{} guard check"},
      {"regions_in_step", Unit::kCount, "{} compiled regions in a step",
       "{} compiled region in a step"},
      {"guard_check_takes", Unit::kNanoseconds, "{} per check"},
      {"regions", Unit::kCount, "{} compiled regions", "{} compiled region"},
      {"variants", Unit::kCount, "{} variants", "{} variant"},
      {"compilations", Unit::kCount, "{} compilations", "{} compilation"},
      {"take_in_steps", Unit::kNanoseconds, "{} inside the steps"},
  };
  static_assert(std::size(kRows) == analysis::kTerms);
  return kRows;
}

std::string term_text(const Term& term) {
  const TermWords& words = words_of(term.what);
  std::string text = term.value == 1 && words.one != nullptr ? words.one : words.text;
  replace(text, "{}", number_text(term.value, words.unit));
  return text;
}

double term_value(const Term& term) {
  return words_of(term.what).unit == Unit::kNanoseconds ? term.value / 1000 : term.value;
}

const char* term_unit(const Term& term) {
  switch (words_of(term.what).unit) {
    case Unit::kNanoseconds:
      return "us";
    case Unit::kBytes:
      return "B";
    case Unit::kFlops:
      return "FLOP";
    case Unit::kShare:
      return "share";
    case Unit::kBytesPerNs:
      return "GB/s";
    case Unit::kTeraflopsPerSecond:
      return "TFLOP/s";
    default:
      return "count";
  }
}

std::string terms_text(const std::vector<Term>& terms) {
  std::string text;
  const char* separator = "";
  for (const Term& term : terms) {
    // One place, block or region per step is the usual case, so it is not printed.
    const bool counts_places = term.what == What::kPlaces || term.what == What::kBlocks ||
                               term.what == What::kRegionsInStep;
    if (counts_places && term.value == 1) continue;
    const bool is_prediction = term.what == What::kWouldMove || term.what == What::kWouldTake;
    const bool continues = term.what == What::kWindow || term.what == What::kMeasuredRate ||
                           term.what == What::kDataSheetRate;
    text += (continues                                       ? " "
             : is_prediction && text.find("; ") == text.npos ? "; "
                                                             : separator) +
            term_text(term);
    separator = ", ";
  }
  return text;
}

Scope scope_of(const AdviceReport& report) {
  if (report.subject.empty()) return {"the trace", ""};
  if (report.subject == trace::kAllSteps) return {"the step", " per step"};
  return {report.subject, " per " + report.subject};
}

std::string range_text(const Estimate& estimate) {
  return fmt::format("{} to {}", time_text(estimate.low), time_text(estimate.high));
}

SavingText saving_text(const Advice& advice, const AdviceReport& report) {
  const Scope scope = scope_of(report);
  const Estimate& saving = advice.saving_ns;
  const bool is_bounded = advice.bound_ns >= 1;
  SavingText text;
  if (saving.high > 0) {
    const bool is_batch = advice.kind == AdviceKind::kBatch;
    text.saves =
        fmt::format("{}{}{} ({}), {}", time_text(saving.likely), scope.per,
                    is_batch ? " for the same number of rows, with twice the rows at once" : "",
                    range_text(saving), words_of(advice.confidence).phrase);
    if (!is_batch) text.saves += "; at most " + time_text(advice.bound_ns);
    if (advice.is_alternative) text.saves += "; an alternative to the advice above";
  } else if (is_bounded) {
    const bool is_estimated = advice.removes_ns.high > 0 && !report.cpu_kernels;
    text.saves = fmt::format("{}at most {}{}{}", is_estimated ? "likely nothing, " : "",
                             time_text(advice.bound_ns), scope.per,
                             is_estimated ? "" : "; the trace does not show how much");
  } else {
    text.saves = report.diagnosis && !report.cpu_kernels && advice.removes_ns.high > 0
                     ? fmt::format("nothing of {} as recorded", scope.the)
                     : "the trace does not show how much";
    return text;
  }
  if (!advice.has_step_after()) return text;
  text.then = time_text(advice.step_after_ns) + scope.per;
  if (report.diagnosis && report.diagnosis->limiter <= analysis::Limiter::kMixed) {
    text.then +=
        fmt::format(", limited by {}", limiter_phrase(advice.then_limited_by, report.cpu_kernels));
  }
  return text;
}

std::string SavingText::sentence() const {
  std::string text = "Saves " + saves + ".";
  if (!then.empty()) text += " After all advice up to here: " + then + ".";
  return text;
}

}  // namespace epi::report
