// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/advise_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"
#include "epilogue/trace/step_name.h"

namespace epi::report {
namespace {

using analysis::Advice;
using analysis::AdviceKind;
using analysis::AdviceReport;
using analysis::Estimate;
using analysis::Reason;
using analysis::Term;

constexpr size_t kShownAdvice = 6;
constexpr size_t kShownEvents = 2;
constexpr size_t kShownOps = 8;
constexpr size_t kIndent = 3;

std::string signed_time(double ns) { return ns < 0 ? "-" + time_text(-ns) : time_text(ns); }

// "30.7 us (16.9 us to 32.7 us)"
std::string estimate_text(const Estimate& estimate) {
  return fmt::format("{} ({} to {})", signed_time(estimate.likely), signed_time(estimate.low),
                     signed_time(estimate.high));
}

std::string ops_text(const std::vector<std::string>& ops) {
  const size_t shown = std::min(ops.size(), kShownOps);
  std::string text = join(std::span(ops).first(shown), ", ");
  if (shown < ops.size()) text += fmt::format(" and {} more", ops.size() - shown);
  return text;
}

std::string term_text(const Term& term) {
  const char* label = text_of(term.what);
  switch (unit_of(term.what)) {
    case TermUnit::kCount:
      return fmt::format("{} {:.4g}", label, term.value);
    case TermUnit::kTime:
      return fmt::format("{} {}", label, signed_time(term.value));
    case TermUnit::kBytes:
      return fmt::format("{} {}", label, bytes_text(term.value));
    case TermUnit::kRate:
      return fmt::format("{} {}/s", label, bytes_text(term.value * 1e9));
    case TermUnit::kFlops:
      return fmt::format("{} {}", label, flops_text(term.value));
    case TermUnit::kFlopRate:
      return fmt::format("{} {}/s", label, flops_text(term.value * 1e9));
    case TermUnit::kShare:
      return fmt::format("{} {:.0f} %", label, 100 * term.value);
  }
  return "";
}

std::string terms_text(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& term : terms) {
    // One place, block or region in a step is the rule.
    const bool counts_places = term.what == Term::What::kPlaces ||
                               term.what == Term::What::kBlocks ||
                               term.what == Term::What::kRegionsInStep;
    const bool is_one = counts_places && term.value == 1;
    if (!is_one) text += (text.empty() ? "" : "; ") + term_text(term);
  }
  return text;
}

// Viewers count from the first event.
int64_t first_ns(const trace::Trace& trace) {
  int64_t first = INT64_MAX;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id)) first = std::min(first, trace.ts_ns[id]);
  }
  return first;
}

// "2 events: ATen pointwise: gelu, bf16 at 1.234 ms": where to look in a viewer.
std::string events_text(const Advice& advice, const trace::Trace& trace, int64_t begin_ns) {
  if (advice.events.empty()) return "";
  std::string text = plural(static_cast<double>(advice.events.size()), "event") + ": ";
  for (size_t i = 0; i < std::min(advice.events.size(), kShownEvents); ++i) {
    const trace::EventId id = advice.events[i];
    const std::string name(trace.name_of(id));
    const bool is_work = trace::is_device_work(trace.category[id]);
    const std::string said = is_work ? kernel_sentence(name, analysis::decode_name(name)) : name;
    text += fmt::format("{}{} at {}", i == 0 ? "" : ", ", said,
                        time_text(static_cast<double>(trace.ts_ns[id] - begin_ns)));
  }
  return text + (advice.events.size() > kShownEvents ? ", ..." : "");
}

// After it and all advice above it.
std::string then_text(const Advice& advice) {
  if (!advice.is_timed || advice.overlaps) return "";
  return fmt::format("; in this order, {} a step is left, limited by {}",
                     time_text(advice.step_after_ns), phrase_of(advice.then_limited_by));
}

std::string step_text(const AdviceReport& advised) {
  if (advised.subject.empty()) return "the trace";
  return advised.subject == trace::kAllSteps ? "a step" : advised.subject;
}

// What compiled code would do on the CPU, where it is not compiled yet.
std::string compiled_text(const AdviceReport& advised) {
  const auto& cpu = advised.compiled_cpu_ns;
  if (cpu.likely <= 0 || advised.because == Reason::kNothingToFuse ||
      advised.because == Reason::kOwnHostWork) {
    return "";
  }
  const auto after = advised.fusion.kernels_after;
  const std::string kernels =
      after == advised.kernels
          ? fmt::format("compiled, it would be as many kernels ({})", after)
          : fmt::format("compiled, it would be {} instead of {}",
                        plural(static_cast<double>(after), "kernel"), advised.kernels);
  return fmt::format(
      "{}, and the CPU would take {} to {} (guards, look-ups and a call each, under the profiler) "
      "instead of {}",
      kernels, time_text(cpu.low), time_text(cpu.high), time_text(advised.cpu_ns));
}

// Which of the two ways to a fused MLP suits the trace.
std::string mode_text(const AdviceReport& advised) {
  const auto& rows = advised.block_rows;
  if (rows.empty() || advised.instances < 2) return "";
  if (rows.size() == 1) {
    return fmt::format("the MLP has {} rows in every step: compile it, or use a prebuilt kernel",
                       rows[0]);
  }
  std::vector<std::string> numbers;
  for (const int64_t one : std::span(rows).first(std::min<size_t>(rows.size(), 4))) {
    numbers.push_back(fmt::format("{}", one));
  }
  return fmt::format(
      "the rows of the MLP change between steps ({}{}): prefer a prebuilt kernel, which takes any "
      "number of rows; torch.compile compiles again for new shapes unless they are marked dynamic",
      join(numbers, ", "), rows.size() > numbers.size() ? ", ..." : "");
}

// Compiled calls take the CPU longer than the GPU then works.
bool needs_graph(const AdviceReport& advised) {
  return !advised.cpu_kernels &&
         advised.compiled_cpu_ns.low > advised.device_ns - advised.fusion.saving_ns.likely;
}

}  // namespace

std::string advice_title(const Advice& advice) {
  const std::string about = ops_text(advice.about);
  switch (advice.kind) {
    case AdviceKind::kFuse:
      return fmt::format("fuse {}", about);
    case AdviceKind::kRegenerate:
      return fmt::format("let a compiler generate {}: its kernel is slow", about);
    case AdviceKind::kGatedMlp:
      return fmt::format("one kernel for gate, up and the activation of the MLP ({})", about);
    case AdviceKind::kGraph:
      return "replay the launches as a CUDA graph, if shapes and addresses stay";
    case AdviceKind::kBatch:
      return "larger batches: the GPU has time left in every step";
    case AdviceKind::kSync:
      return fmt::format("do not wait for the GPU in {}", about);
    case AdviceKind::kPageable:
      return "pin the memory that is copied, and copy asynchronously";
    case AdviceKind::kTensorCores:
      return fmt::format("allow tf32 in the f32 GEMMs {}: they miss the tensor cores", about);
    case AdviceKind::kAlignment:
      return fmt::format("pad the GEMMs {} to multiples of 8", about);
    case AdviceKind::kCopies:
      return "avoid copies that only change the layout";
    case AdviceKind::kWaves:
      return fmt::format("the tiles of the GEMMs {} fill the GPU badly", about);
    case AdviceKind::kGuards:
      return "look-ups of compiled code: fewer guards, or a CUDA graph around them";
    case AdviceKind::kBreaks:
      return "join the compiled regions: graph breaks lie between them";
    case AdviceKind::kRecompiles:
      return "keep one variant of each compiled region: it was compiled again";
    case AdviceKind::kAddmm:
      return fmt::format("addmm for matmul and add, {}: the add goes into the GEMM's epilogue",
                         about);
    case AdviceKind::kAllocation:
      return "reuse device memory: it is allocated and freed inside of the step";
    case AdviceKind::kOverlap:
      return "overlap collectives with compute: nothing runs beside them";
    case AdviceKind::kAttention:
      return fmt::format("scaled_dot_product_attention for bmm, softmax, bmm ({})", about);
    case AdviceKind::kInput:
      if (advice.in_part) {
        return "load data faster: more workers, a larger prefetch_factor, less work per sample" +
               (about.empty() ? "" : fmt::format("; most of the time is in {}", about));
      }
      return "load data in workers, ahead of the GPU (num_workers, prefetch_factor, pin_memory)" +
             (about.empty() ? "" : fmt::format("; most of the time is in {}", about));
    case AdviceKind::kCompiling:
      return "compile before the steps: it happens inside of them";
  }
  return "";
}

std::string short_title(const Advice& advice) {
  const std::string about = ops_text(advice.about);
  switch (advice.kind) {
    case AdviceKind::kFuse:
      return fmt::format("fuse {}", about);
    case AdviceKind::kRegenerate:
      return fmt::format("generated kernel: {}", about);
    case AdviceKind::kGatedMlp:
      return "gate+up+activation kernel";
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
      return fmt::format("no wait in {}", about);
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
      return "fewer guards";
    case AdviceKind::kBreaks:
      return "no graph breaks";
    case AdviceKind::kRecompiles:
      return "no recompiling";
    case AdviceKind::kCompiling:
      return "compile before the steps";
    case AdviceKind::kInput:
      return advice.in_part ? "more loader workers" : "load data in workers";
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

std::string saving_text(const Advice& advice, bool cpu_kernels) {
  if (advice.kind == AdviceKind::kBatch) {
    return fmt::format("twice the rows in a step save {} for the rows of one step, {}",
                       estimate_text(advice.saving_ns), text_of(advice.confidence));
  }
  const std::string shorter =
      advice.step_saving_ns < 1
          ? std::string("alone, it does not shorten the recorded step")
          : fmt::format("alone, it shortens the recorded step by {}{}",
                        advice.on_device || advice.kind == AdviceKind::kSync ? "" : "at most ",
                        time_text(advice.step_saving_ns));
  if (advice.saving_ns.high <= 0) {
    return advice.step_saving_ns < 1 ? "the trace does not show how much it saves"
                                     : shorter + then_text(advice);
  }
  const char* of = cpu_kernels ? "kernel time" : advice.on_device ? "GPU time" : "GPU idle time";
  return fmt::format("{}saves {} of {} per step, {}{}{}",
                     advice.overlaps ? "alternative to the above: " : "",
                     estimate_text(advice.saving_ns), of, text_of(advice.confidence),
                     advice.is_timed ? "; " + shorter : "", then_text(advice));
}

std::string like_command(const AdviceReport& advised, const std::string& file) {
  const bool mlp = !advised.blocks.mlps.empty();
  if (!mlp && advised.blocks.linears.empty()) return "";
  const bool is_part = advised.subject != trace::kAllSteps && !advised.subject.empty();
  const std::string like = is_part ? file + ":" + advised.subject : file;
  return fmt::format("epilogue run {} --like {}", mlp ? "mlp" : "linear", shell_word(like));
}

std::string verdict_line(const AdviceReport& advised) {
  const std::string compiler = advised.own ? "--compile" : "torch.compile";
  const std::string head = fmt::format("{}: {}, ", compiler, text_of(advised.verdict));
  const auto& fusion = advised.fusion;
  const double share =
      advised.device_ns > 0 ? 100 * fusion.saving_ns.likely / advised.device_ns : 0;
  const std::string gain =
      fmt::format("fusing would save {} of {} of {} time in {}, {:.0f} %",
                  estimate_text(fusion.saving_ns), time_text(advised.device_ns),
                  advised.cpu_kernels ? "kernel" : "GPU", step_text(advised), share);
  const std::string cpu =
      fmt::format("{} {} in {} of {}",
                  advised.cpu_kernels ? "what lies between kernels is the limit: they run"
                                      : "the CPU is the limit: the GPU works",
                  time_text(advised.device_ns), step_text(advised), time_text(advised.window_ns));
  const char* where = advised.cpu_kernels ? "" : " on the GPU";
  const bool nothing_to_fuse = fusion.kernels_after == advised.kernels;
  const std::string after = fmt::format("{} to {}", time_text(advised.compiled_cpu_ns.low),
                                        time_text(advised.compiled_cpu_ns.high));
  switch (advised.because) {
    case Reason::kNoDevice:
      return fmt::format("{}: not conclusive, there is no device work in {}", compiler,
                         step_text(advised));
    case Reason::kCompiled:
      return head + "this run is compiled already";
    case Reason::kGraphReplay:
      return head + "a CUDA graph launches this work: it cannot be compiled or captured again";
    case Reason::kCapture:
      return head + "it captures a CUDA graph, and is not run again";
    case Reason::kNotConclusive:
      if (advised.diagnosis->launches_missing) {
        return compiler + ": not conclusive, most launches are not in the file";
      }
      return fmt::format(
          "{}: not conclusive, {:.0f} % of {} waits for something that is not in the file",
          compiler, 100 * advised.diagnosis->unexplained_share(), step_text(advised));
    case Reason::kOtherLimit:
      return head + fmt::format("{} is {:.0f} % of {}, which compiled code does not shorten",
                                phrase_of(advised.diagnosis->limiter),
                                100 * advised.diagnosis->share(advised.diagnosis->limiter),
                                step_text(advised));
    case Reason::kOwnHostWork:
      return head +
             fmt::format(
                 "the host is the limit, but {} of {} is not dispatch (operators, or gaps between "
                 "them, over 1 ms)",
                 time_text(static_cast<double>(advised.diagnosis->own_host_ns()) /
                           static_cast<double>(advised.diagnosis->judged)),
                 step_text(advised));
    case Reason::kCpuKernels:
      return head + fmt::format(
                        "{} would become {}; how much that saves on a CPU, the trace does not tell",
                        plural(static_cast<double>(advised.kernels), "kernel"),
                        advised.kernels_compiled);
    case Reason::kNothingToFuse:
      return head + (nothing_to_fuse
                         ? fmt::format("there is nothing to fuse{}", where)
                         : fmt::format("there is next to nothing to fuse{}: {}", where, gain));
    case Reason::kOwnGemm:
      return head + "there is nothing to fuse; whether its own GEMM is faster has to be measured";
    case Reason::kSmallGain:
    case Reason::kGain:
      return head + gain +
             (needs_graph(advised) ? "; with a CUDA graph: without one the CPU is the limit" : "");
    case Reason::kDispatchGain:
      return head + cpu + ", and compiled calls would be fewer: " + after + " of the CPU's time";
    case Reason::kDispatchUnsure:
      return head + cpu + "; compiled, the CPU would take " + after;
    case Reason::kDispatchLoss:
      return head + cpu + ", and compiling would add more than it removes: " + after +
             (nothing_to_fuse ? fmt::format("; there is nothing to fuse{}", where) : "");
  }
  return head;
}

namespace {

// Of estimates for a GPU whose pairs nobody here has recorded.
std::string elsewhere_text(const AdviceReport& advised, const trace::Trace& trace) {
  const std::string device = analysis::device_name(trace);
  const bool estimates = std::any_of(advised.advice.begin(), advised.advice.end(),
                                     [](const Advice& one) { return one.saving_ns.high > 0; });
  if (!estimates || advised.cpu_kernels || analysis::is_measured_gpu(device)) return "";
  return fmt::format("estimates are calibrated on an {}; {} was not measured here",
                     analysis::kMeasuredGpu, device.empty() ? "this trace's GPU" : device);
}

}  // namespace

std::string advise_text(const AdviceReport& advised, const trace::Trace& trace,
                        const AdviseStyle& style) {
  const size_t width = style.markdown ? SIZE_MAX / 2 : style.width;
  std::string out = wrapped(verdict_line(advised), width) + '\n';
  if (advised.because == Reason::kNoDevice) return out;
  if (advised.diagnosis) {
    const auto& diagnosis = *advised.diagnosis;
    out += wrapped(verdict_text(diagnosis, advised.cpu_kernels ? "kernel lane" : "GPU"), width) +
           '\n' + wrapped("critical path: " + path_text(diagnosis), width) + '\n';
  }
  const std::string compiled = compiled_text(advised);
  if (!compiled.empty()) out += wrapped(compiled, width) + '\n';
  const int64_t begin_ns = first_ns(trace);
  const size_t shown =
      style.all ? advised.advice.size() : std::min(advised.advice.size(), kShownAdvice);
  for (size_t i = 0; i < shown; ++i) {
    const Advice& advice = advised.advice[i];
    const size_t margin = style.markdown ? 0 : kIndent;
    const std::string number = fmt::format("{}. ", i + 1);
    const std::string title = indented(advice_title(advice), number.size(), width);
    out += '\n' + number + title.substr(number.size()) + '\n';
    for (const std::string& line :
         {saving_text(advice, advised.cpu_kernels), terms_text(advice.terms),
          events_text(advice, trace, begin_ns)}) {
      if (!line.empty())
        out += (style.markdown ? "   - " : "") + indented(line, margin, width) + '\n';
    }
  }
  if (shown < advised.advice.size()) {
    out += fmt::format("\nand {} more: --all\n", advised.advice.size() - shown);
  }
  if (advised.advice.empty()) out += "\nno advice for this step\n";
  const std::string elsewhere = elsewhere_text(advised, trace);
  if (!elsewhere.empty()) out += '\n' + wrapped(elsewhere, width) + '\n';
  const std::string modes = mode_text(advised);
  if (!modes.empty()) out += '\n' + wrapped(modes, width) + '\n';
  const std::string command = like_command(advised, style.file);
  if (!command.empty())
    out += fmt::format("\nto run this block here, in every mode:\n  {}\n", command);
  return out;
}

std::string advice_check_text(const analysis::AdviceCheck& check, bool markdown) {
  Table table({{"", Align::kLeft},
               {"before", Align::kRight},
               {"predicted", Align::kRight},
               {"after", Align::kRight}});
  table.add_row({check.cpu_kernels ? "kernel time" : "GPU time", time_text(check.device_ns),
                 check.has_estimate() ? time_text(check.device_ns - check.saving_ns.likely) : "-",
                 time_text(check.after_device_ns)});
  table.add_row({"saving", "", check.has_estimate() ? signed_time(check.saving_ns.likely) : "-",
                 signed_time(check.actual_ns)});
  table.add_row({"kernels", fmt::format("{}", check.kernels),
                 fmt::format("{}", check.kernels_predicted),
                 fmt::format("{}", check.kernels_after)});
  std::string out = markdown ? table.markdown() : table.text();
  if (check.change == analysis::Change::kGatedMlp) {
    out += "\nestimate: gate, up and the activation in one kernel\n";
  }
  if (!check.has_estimate()) return out + "\nno saving was estimated\n";
  const auto error = check.error();
  out += fmt::format(
      "\n{}; the range {} to {} {}\n",
      error ? fmt::format("the estimate is {:+.0f} % off", 100 * *error) : "nothing was saved",
      signed_time(check.saving_ns.low), signed_time(check.saving_ns.high),
      !check.holds()   ? "is narrower than the noise"
      : *check.holds() ? "holds"
                       : "does not hold");
  if (check.unchanged_ns != 0) {
    out += fmt::format("kernels that are the same in both differ by {}\n",
                       signed_time(check.unchanged_ns));
  }
  if (check.compile_ns > 0 && check.actual_ns > 0) {
    out += fmt::format("compiling takes {} inside of its steps: paid back after {:.0f} steps\n",
                       time_text(check.compile_ns), check.compile_ns / check.actual_ns);
  }
  return out;
}

}  // namespace epi::report
