// SPDX-License-Identifier: Apache-2.0
// One piece of advice in words: its title, the numbers behind it, and what it saves.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"
#include "epilogue/trace/step_name.h"

namespace epi::report {

using analysis::Advice;
using analysis::AdviceKind;
using analysis::AdviceReport;
using analysis::Estimate;
using analysis::Limiter;
using analysis::Term;
using What = Term::What;

namespace {

constexpr size_t kShownOps = 8;
constexpr const char* kUnknownSaving = "the trace does not show how much";

std::string ops_text(const std::vector<std::string>& ops) {
  const size_t shown = std::min(ops.size(), kShownOps);
  std::string text = join(std::span(ops).first(shown), ", ");
  if (shown < ops.size()) text += fmt::format(" and {} more", ops.size() - shown);
  return text;
}

}  // namespace

Scope scope_of(const AdviceReport& report) {
  if (report.subject.empty()) return {"the trace", "the trace", ""};
  if (report.subject == trace::kAllSteps) return {"a step", "the step", " per step"};
  return {report.subject, report.subject, " per " + report.subject};
}

std::string signed_time(double ns) { return ns < 0 ? "-" + time_text(-ns) : time_text(ns); }

std::string range_text(const Estimate& estimate) {
  return fmt::format("{} to {}", signed_time(estimate.low), signed_time(estimate.high));
}

std::string advice_title(const Advice& advice) {
  const std::string about = ops_text(advice.about);
  switch (advice.kind) {
    case AdviceKind::kFuse:
      return fmt::format("fuse {}", about);
    case AdviceKind::kRegenerate:
      return fmt::format(
          "replace the kernel of {} by a compiled one: it is far below peak bandwidth", about);
    case AdviceKind::kGatedMlp:
      return fmt::format("run gate, up and the activation of the MLP as one kernel ({})", about);
    case AdviceKind::kGraph:
      return "replay the launches as a CUDA graph, if shapes and addresses do not change";
    case AdviceKind::kBatch:
      return "use larger batches: the GPU is mostly idle";
    case AdviceKind::kSync:
      return fmt::format("remove the synchronization in {}", about);
    case AdviceKind::kPageable:
      return "copy from pinned memory, asynchronously";
    case AdviceKind::kTensorCores:
      return fmt::format("allow tf32 for the f32 GEMMs {}, which do not use the tensor cores",
                         about);
    case AdviceKind::kAlignment:
      return fmt::format("pad the GEMMs {} to multiples of 8", about);
    case AdviceKind::kCopies:
      return "avoid copies that only change the layout";
    case AdviceKind::kWaves:
      return fmt::format("use other tiles for the GEMMs {}: the last wave leaves SMs idle", about);
    case AdviceKind::kGuards:
      return "reduce guard checks: fewer guards, or a CUDA graph around the compiled code";
    case AdviceKind::kBreaks:
      return "remove the graph breaks between the compiled regions";
    case AdviceKind::kRecompiles:
      return "avoid recompilation: mark the sizes that change as dynamic";
    case AdviceKind::kAddmm:
      return fmt::format(
          "replace matmul and add by addmm, {}: the add moves into the GEMM's epilogue", about);
    case AdviceKind::kAllocation:
      return "reuse device memory instead of allocating and freeing it in every step";
    case AdviceKind::kOverlap:
      return "overlap the collectives with compute";
    case AdviceKind::kAttention:
      return fmt::format("replace bmm, softmax, bmm by scaled_dot_product_attention ({})", about);
    case AdviceKind::kInput:
      if (advice.has_workers) {
        return "load data faster: more workers, a larger prefetch_factor, less work per sample" +
               (about.empty() ? "" : fmt::format("; most of the time is in {}", about));
      }
      return "load data in workers, ahead of the GPU (num_workers, prefetch_factor, pin_memory)" +
             (about.empty() ? "" : fmt::format("; most of the time is in {}", about));
    case AdviceKind::kCompiling:
      return "compile during warm-up: compilation happens inside the steps";
  }
  return "";
}

std::string short_title(const Advice& advice) {
  const std::string about = ops_text(advice.about);
  switch (advice.kind) {
    case AdviceKind::kFuse: {
      constexpr size_t kMaxListed = 4;
      const auto& ops = advice.about;
      return ops.size() <= kMaxListed
                 ? fmt::format("fuse {}", about)
                 : fmt::format("fuse {} ops, {} to {}", ops.size(), ops.front(), ops.back());
    }
    case AdviceKind::kRegenerate:
      return fmt::format("compile {}", about);
    case AdviceKind::kGatedMlp:
      return "fused gate+up+activation";
    case AdviceKind::kGraph:
      return "CUDA graph";
    case AdviceKind::kBatch: {
      const auto grow =
          std::find_if(advice.terms.begin(), advice.terms.end(),
                       [](const Term& term) { return term.what == Term::What::kRowsCouldGrow; });
      return grow == advice.terms.end() ? "larger batch"
                                        : fmt::format("larger batch (x{:.0f})", grow->value);
    }
    case AdviceKind::kSync:
      return fmt::format("no sync in {}", about);
    case AdviceKind::kPageable:
      return "pinned memory for copies";
    case AdviceKind::kTensorCores:
      return fmt::format("tf32 for {}", about);
    case AdviceKind::kAlignment:
      return fmt::format("pad {} to multiples of 8", about);
    case AdviceKind::kCopies:
      return "no layout copies";
    case AdviceKind::kWaves:
      return fmt::format("other tiles for {}", about);
    case AdviceKind::kGuards:
      return "fewer Dynamo guards";
    case AdviceKind::kBreaks:
      return "no graph breaks";
    case AdviceKind::kRecompiles:
      return "no recompilation";
    case AdviceKind::kCompiling:
      return "compile during warm-up";
    case AdviceKind::kInput:
      return advice.has_workers ? "more loader workers" : "load data in workers";
    case AdviceKind::kAddmm:
      return fmt::format("addmm {}", about);
    case AdviceKind::kAttention:
      return "fused attention (SDPA)";
    case AdviceKind::kAllocation:
      return "reuse device memory";
    case AdviceKind::kOverlap:
      return "overlap collectives";
  }
  return "";
}

std::string term_text(const Term& term) {
  const double value = term.value;
  const auto time = [&] { return signed_time(value); };
  switch (term.what) {
    case What::kGemms:
      return plural(value, "GEMM");
    case What::kKernels:
      return plural(value, "kernel");
    case What::kCopies:
      return plural(value, "cop", "ies", "y");
    case What::kCalls:
      return plural(value, "call");
    case What::kLaunches:
      return plural(value, "launch", "es");
    case What::kLookUps:
      return plural(value, "guard check");
    case What::kCompilations:
      return plural(value, "compilation");
    case What::kRegions:
      return plural(value, "compiled region");
    case What::kVariants:
      return plural(value, "variant");
    case What::kTiles:
      return plural(value, "tile");
    case What::kMultiprocessors:
      return fmt::format("{:.0f} SMs", value);
    case What::kPlaces:
      return plural(value, "place");
    case What::kBlocks:
      return plural(value, "MLP");
    case What::kRegionsInStep:
      return fmt::format("{} in a step", plural(value, "compiled region"));
    case What::kTakes:
      return time();
    case What::kTakesInSteps:
      return time() + " inside the steps";
    case What::kLookUpTakes:
      return time() + " per check";
    case What::kBetweenGemms:
      return time() + " of it between the GEMMs";
    case What::kDeviceWaits:
      return "the GPU waits " + time();
    case What::kWindow:
      return "of " + time();
    case What::kCpuWaits:
      return "the CPU waits " + time();
    case What::kIdleAfter:
      return "then the GPU idles " + time();
    case What::kWouldTake:
      return "would take " + time();
    case What::kMoves:
      return bytes_text(value) + " moved";
    case What::kWouldMove:
      return "would move " + bytes_text(value);
    case What::kMeasuredRate:
      return fmt::format("at this trace's {}", bandwidth_text(value));
    case What::kDataSheetRate:
      return fmt::format("at the data sheet's {}", bandwidth_text(value));
    case What::kFlops:
      return flops_text(value);
    case What::kTf32Peak:
      return fmt::format("tf32 peak {}/s", flops_text(value * 1e9));
    case What::kShareOfPeak:
      return fmt::format("{:.0f} % of peak", 100 * value);
    case What::kFilled:
      return fmt::format("waves {:.0f} % full", 100 * value);
    case What::kRowsCouldGrow:
      return fmt::format("rows could grow {:.0f} times", value);
  }
  return "";
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

SavingText saving_text(const Advice& advice, const AdviceReport& report) {
  const Scope scope = scope_of(report);
  SavingText text;
  const std::string bare = scope.the.starts_with("the ") ? scope.the.substr(4) : scope.the;
  if (advice.kind == AdviceKind::kBatch) {
    text.saves =
        fmt::format("{} for the same number of rows, with twice the rows per step ({}), {}",
                    signed_time(advice.saving_ns.likely), range_text(advice.saving_ns),
                    text_of(advice.confidence));
    return text;
  }
  const bool estimated = advice.saving_ns.high > 0;
  const bool shortens = advice.step_saving_ns >= 1;
  if (estimated) {
    const char* of = report.cpu_kernels ? "kernel time"
                     : advice.on_device ? "GPU time"
                                        : "GPU idle time";
    text.saves = fmt::format("{} of {}{} ({}), {}", signed_time(advice.saving_ns.likely), of,
                             scope.per, range_text(advice.saving_ns), text_of(advice.confidence));
    if (advice.overlaps) text.saves += "; an alternative to the advice above";
  } else if (!shortens) {
    text.saves = kUnknownSaving;
    return text;
  }
  if (advice.is_timed || !estimated) {
    const bool exact = advice.on_device || advice.kind == AdviceKind::kSync;
    text.alone = shortens ? fmt::format("shortens the recorded {} by {}{}", bare,
                                        exact ? "" : "at most ", time_text(advice.step_saving_ns))
                          : fmt::format("does not shorten the recorded {}", bare);
  }
  if (advice.is_timed && !advice.overlaps) {
    text.then = time_text(advice.step_after_ns) + scope.per;
    if (report.diagnosis && report.diagnosis->limiter <= Limiter::kMixed) {
      text.then += fmt::format(", limited by {}", phrase_of(advice.then_limited_by));
    }
  }
  return text;
}

std::string SavingText::sentence() const {
  std::string text = saves.empty()             ? ""
                     : saves == kUnknownSaving ? "The trace does not show how much it saves."
                                               : "Saves " + saves + ".";
  const auto add = [&](const char* start, const std::string& part) {
    if (!part.empty()) text += fmt::format("{}{}{}.", text.empty() ? "" : " ", start, part);
  };
  add("Alone, it ", alone);
  add("After all advice up to here: ", then);
  return text;
}

}  // namespace epi::report
