// SPDX-License-Identifier: Apache-2.0
// The estimates of one trace next to the measurements of a second one.
#pragma once

#include <optional>
#include <string>

#include "epilogue/analysis/advise/advice_check.h"
#include "epilogue/report/advise/advise_report.h"

namespace epi::report {

struct AdviceCheckResult {
  AdviceCheckResult(const analysis::StepModels& before, const analysis::StepModels& after,
                    const std::optional<std::string>& under, std::string after_file);

  analysis::AdviceReport report;  // of the first run
  analysis::AdviceCheck check;
  std::string against;

  std::string verdict() const;
};
std::string text_of(const AdviceCheckResult& result, const Style& style);

template <>
struct Description<analysis::CheckedTime> {
  using Time = analysis::CheckedTime;
  static constexpr const char* kName = "checked_time";
  static constexpr std::tuple kMembers{
      Member{"before_us", "before", Unit::kNanoseconds, "in the first run", &Time::before_ns},
      Member{"after_us", "after", Unit::kNanoseconds, "in the second run", &Time::after_ns},
      Member{"saving_us_predicted", "predicted", Unit::kNanoseconds, "the estimate",
             &Time::saving_ns},
      Member{"saving_us_actual", "saving", Unit::kNanoseconds, "before minus after",
             &Time::actual_ns},
      Member{"noise_us", "noise", Unit::kNanoseconds,
             "how much kernels that are the same in both runs differ", &Time::noise_ns},
      Member{"error", "error", Unit::kShare, "relative error of the estimate",
             [](const Time& one) { return one.has_estimate() ? one.error() : std::nullopt; }},
      Member{"holds", "holds", Unit::kNone,
             "the saving is in the range, widened by the noise; null if that cannot be decided",
             &Time::holds}};
};

template <>
struct Description<AdviceCheckResult> {
  using Result = AdviceCheckResult;
  static constexpr const char* kName = "advice_check";
  static constexpr std::tuple kMembers{
      Member{"against", "against", Unit::kNone, "the second run", &Result::against},
      Member{"verdict", "verdict", Unit::kNone, "the comparison in words", &Result::verdict},
      Member{"same_work_share", "same work", Unit::kShare,
             "share of the first run's work that the second has; below 0.5 nothing is compared",
             [](const Result& one) { return one.check.same_work; }},
      Member{"change", "change", Unit::kNone, "what the estimate is for: fused, gated_mlp",
             [](const Result& one) {
               return one.check.change == analysis::Change::kFused ? "fused" : "gated_mlp";
             }},
      Member{"step", "step", Unit::kNone, "step time",
             [](const Result& one) { return one.check.step; }},
      Member{"gpu", "GPU time", Unit::kNone, "GPU time",
             [](const Result& one) { return one.check.gpu; }},
      Member{"kernels_before", "kernels", Unit::kCount, "kernels of the first run",
             [](const Result& one) { return one.check.kernels; }},
      Member{"kernels_predicted", "predicted", Unit::kCount, "kernels after the change, estimated",
             [](const Result& one) { return one.check.kernels_predicted; }},
      Member{"kernels_after", "after", Unit::kCount, "kernels of the second run",
             [](const Result& one) { return one.check.kernels_after; }},
      Member{"compile_us", "compilation", Unit::kNanoseconds,
             "compilation inside the steps of the second run",
             [](const Result& one) { return one.check.compile_ns; }}};
};

}  // namespace epi::report
