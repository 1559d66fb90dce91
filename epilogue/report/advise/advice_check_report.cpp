// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/advise/advice_check_report.h"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::AdviceCheck;
using analysis::CheckedTime;

std::string signed_time(double ns) { return ns < 0 ? "-" + time_text(-ns) : time_text(ns); }

// "The step: 9.938 us saved, inside the range (4.1 us to 12.3 us). The estimate is 3 % too high."
std::string time_sentence(const char* what, const CheckedTime& time) {
  const double actual = time.actual_ns();
  std::string text =
      fmt::format("{}: {} {}", what, time_text(std::abs(actual)), actual < 0 ? "longer" : "saved");
  if (!time.has_estimate()) return text + ", without an estimate.";
  const std::string range = range_text(time.saving_ns);
  const std::string noise =
      time.noise_ns < 1 ? "" : fmt::format(", which noise widens by {}", time_text(time.noise_ns));
  const auto holds = time.holds();
  text += !holds
              ? fmt::format(". The noise of {} is larger than the estimate ({}).",
                            time_text(time.noise_ns), range)
              : fmt::format(", {} the range ({}{}).", *holds ? "inside" : "outside", range, noise);
  if (const auto error = time.error(); error && holds) {
    text += fmt::format(" The estimate is {:.0f} % too {}.", 100 * std::abs(*error),
                        *error < 0 ? "low" : "high");
  }
  return text;
}

const char* gpu_time(const AdviceCheck& check) {
  return check.cpu_kernels ? "kernel time" : "GPU time";
}

Table times_table(const AdviceCheck& check) {
  Table table({{"", Align::kLeft},
               {"before", Align::kRight},
               {"predicted", Align::kRight},
               {"after", Align::kRight},
               {"saved", Align::kRight}});
  const auto add = [&](const char* what, const CheckedTime& time) {
    table.add_row({what, time_text(time.before_ns),
                   time.has_estimate() ? time_text(time.before_ns - time.saving_ns.likely) : "-",
                   time_text(time.after_ns), signed_time(time.actual_ns())});
  };
  add("step", check.step);
  add(gpu_time(check), check.gpu);
  table.add_row({"kernels", fmt::format("{}", check.kernels),
                 fmt::format("{}", check.kernels_predicted), fmt::format("{}", check.kernels_after),
                 ""});
  return table;
}

}  // namespace

AdviceCheckResult::AdviceCheckResult(const analysis::StepModels& before,
                                     const analysis::StepModels& after,
                                     const std::optional<std::string>& under,
                                     std::string after_file)
    : report(analysis::advise(before, under)),
      check(analysis::check_advice(before, after, under)),
      against(std::move(after_file)) {}

std::string AdviceCheckResult::verdict() const {
  if (!check.is_same_work()) {
    return fmt::format(
        "These are not the same work: {:.0f} % of the first run's is in the second. Nothing is "
        "compared.",
        100 * *check.same_work);
  }
  std::string text = check.after_is_cut ? "CONDITIONAL, the second run's file is cut: " : "";
  const auto& [old_gpu, new_gpu] = std::tie(check.before_device, check.after_device);
  if (old_gpu != new_gpu && !old_gpu.empty() && !new_gpu.empty()) {
    text += fmt::format("CONDITIONAL, the GPUs differ ({}, then {}): ", shortened(old_gpu, 40),
                        shortened(new_gpu, 40));
  }
  text += time_sentence("The step", check.step);
  if (check.cpu_kernels) return text + " Savings are not estimated for CPU kernels.";
  text += " " + time_sentence("GPU time", check.gpu);
  if (check.change == analysis::Change::kGatedMlp) {
    text += " The estimate is for gate, up and the activation in one kernel.";
  }
  if (check.compile_ns > 0) {
    text += fmt::format(" Compilation takes {} inside the steps", time_text(check.compile_ns));
    text += check.step.actual_ns() > 0 ? fmt::format(" and pays off after {:.0f} steps.",
                                                     check.compile_ns / check.step.actual_ns())
                                       : ".";
  }
  return text;
}

std::string text_of(const AdviceCheckResult& result, const Style& style) {
  const std::string verdict = wrapped(result.verdict(), style.line_width()) + '\n';
  if (!result.check.is_same_work()) return verdict;
  const Table table = times_table(result.check);
  return wrapped(verdict_line(result.report), style.line_width()) + "\n\n" +
         (style.markdown ? table.markdown() : table.text(style.width)) + '\n' + verdict;
}

}  // namespace epi::report
