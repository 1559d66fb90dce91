// SPDX-License-Identifier: Apache-2.0
// Runs a lesson of the tour: first call, warm-up, recording, rules; later the forwards without
// recording.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/expect/rule_parser.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/clock.h"
#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/cli/run/workload.h"
#include "epilogue/cli/tour/tour.h"
#include "epilogue/cli/tour/tour_program.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/trace/writer.h"

namespace epi::cli {
namespace {

// The default of `run mlp --hidden`.
constexpr int64_t kDefaultHidden = 3072;
constexpr double kWarmUpNs = 50e6;
constexpr double kTotalNs = 1e9;  // over all rounds of one block's modes

// One more call with another batch size, which must not add a variant.
void check_other_batch(const Lesson& lesson, const Program& program, Device device,
                       LessonResult& result) {
  RunFlags flags = lesson.run;
  flags.batch = lesson.other_batch;
  program.function(plan(flags, device).make_inputs());
  wait_for(device);
  analysis::RuleResult rule;
  rule.rule.text = fmt::format("batch {}: no recompile", lesson.other_batch);
  if (!program.compiled) throw BugError("a lesson with other_batch must be compiled");
  rule.found = static_cast<double>(program.compiled->variants().size() - 1);
  rule.ok = *rule.found == 0;
  result.rules.push_back(std::move(rule));
}

OccupancyQueries find_occupancy_queries(const analysis::TraceIndex& index,
                                        const analysis::Interval& forward) {
  OccupancyQueries found;
  for (trace::EventId id = 0; id < index.trace.size(); ++id) {
    const bool inside = trace::is_call(index.trace.category[id]) &&
                        index.trace.ts_ns[id] >= forward.begin &&
                        index.trace.ts_ns[id] < forward.end;
    if (!inside || index.trace.name_of(id).find("Occupancy") == std::string_view::npos) continue;
    if (found.count++ == 0) found.name = index.trace.name_of(id);
    const trace::EventId op = index.links.op[id];
    const std::string name(op == trace::kNoEvent ? "no operator" : index.trace.name_of(op));
    if (std::find(found.ops.begin(), found.ops.end(), name) == found.ops.end()) {
      found.ops.push_back(name);
    }
  }
  return found;
}

void measure(const std::string& annotation, LessonResult& result) {
  const analysis::StepModels& models = result.loaded->models();
  const analysis::StepGroup forwards = models.named(annotation);
  const analysis::MedianMeasures median = forwards.medians();
  result.cpu_ns = median.cpu_ns;
  result.kernel_ns = median.gpu_ns;
  if (const auto found = analysis::diagnose(models, forwards)) result.limiter = found->limiter;
  if (!forwards.steps.empty()) {
    result.occupancy = find_occupancy_queries(models.index(), forwards.steps[0].host);
  }
  for (const KernelSum& kernel : sum_kernels(first_forward(result.loaded->trace(), annotation))) {
    result.kernel_count += kernel.count;
    result.bytes += kernel.bytes;
    result.kernel_names.push_back(kernel.name);
    const std::string sentence =
        report::kernel_sentence(kernel.name, analysis::decode_name(kernel.name));
    result.kernels.push_back(kernel.count == 1 ? sentence
                                               : fmt::format("{} x {}", kernel.count, sentence));
  }
}

// "mlp_fwd: bytes <= 4915200B": the baseline's bytes minus the transfers that fusion saves.
std::string bytes_rule(const Lesson& lesson, const Tensor& x, const LessonResult& baseline) {
  const int64_t hidden =
      lesson.run.hidden.empty() ? kDefaultHidden : positive_number("--hidden", lesson.run.hidden);
  const int64_t rows = x.numel() / x.size(x.dim() - 1);
  const int64_t saved = lesson.hidden_moves_saved * rows * hidden * size_bytes(x.dtype());
  return fmt::format("mlp_fwd: bytes <= {}B", baseline.bytes - saved);
}

void check_rules(const Lesson& lesson, const std::vector<LessonResult>& before, const Tensor& x,
                 LessonResult& result) {
  std::vector<std::string> rules = lesson.rules;
  for (const LessonResult& earlier : before) {
    if (lesson.hidden_moves_saved > 0 && earlier.mode == lesson.baseline) {
      rules.push_back(bytes_rule(lesson, x, earlier));
    }
  }
  for (const std::string& text : rules) {
    auto rule = analysis::parse_rule(text);
    if (!rule) throw BugError(rule.error().message);
    const analysis::LoadTrace load = [&](const std::string& mode) -> const analysis::StepModels& {
      for (const LessonResult& earlier : before) {
        if (earlier.mode == mode) return earlier.loaded->models();
      }
      throw BugError(fmt::format("no lesson is named {}", mode));
    };
    result.rules.push_back(analysis::check_rule(result.loaded->models(), *rule, load));
  }
}

// `same kernels as` of `expect` compares an annotation with the same name in another trace. This
// check also works for lessons with different annotations.
void check_same_kernels(const Lesson& lesson, const std::vector<LessonResult>& before,
                        LessonResult& result) {
  for (const LessonResult& earlier : before) {
    if (earlier.mode != lesson.same_kernels_as) continue;
    analysis::RuleResult rule;
    rule.rule.text = fmt::format("same kernel names as \"{}\"", earlier.mode);
    rule.ok = earlier.kernel_names == result.kernel_names;
    result.rules.push_back(std::move(rule));
  }
}

}  // namespace

std::string trace_path(const Lesson& lesson, const std::string& folder) {
  std::string name = lesson.mode;
  std::replace(name.begin(), name.end(), ' ', '_');
  return fmt::format("{}/{}.json", folder, name);
}

LessonResult run_lesson(const Lesson& lesson, Device device, const std::string& folder,
                        const std::vector<LessonResult>& before) {
  // Creates weights and inputs first, so that the first call's time only covers loading the package
  // or compiling.
  RunFlags eager = lesson.run;
  eager.kernels.clear();
  const Workload workload = plan(eager, device);
  const std::vector<Tensor> inputs = workload.make_inputs();
  const auto block = workload.make_block();
  throw_if_failed(block);
  LessonResult result;
  result.mode = lesson.mode;
  const int64_t start_ns = now_ns();
  const Program program = make_program(lesson.run, *block, device);
  const Forward forward = [annotation = workload.annotation, program, inputs] {
    const RecordFunction range(annotation);
    program.function(inputs);
  };
  result.forward = forward;
  forward();
  wait_for(device);
  result.first_call_ns = static_cast<double>(now_ns() - start_ns);
  Progress progress;
  warm_up_for(forward, kWarmUpNs, device);
  result.loaded = std::make_shared<const verbs::LoadedTrace>(
      std::make_shared<const trace::Trace>(
          recorded_forwards(forward, {2, 2, kRecordedForwards}, progress)),
      nullptr);
  result.trace_path = trace_path(lesson, folder);
  const auto written = trace::write(result.loaded->trace(), result.trace_path);
  throw_if_failed(written);
  measure(workload.annotation, result);
  check_rules(lesson, before, inputs[0], result);
  check_same_kernels(lesson, before, result);
  if (!lesson.other_batch.empty()) check_other_batch(lesson, program, device, result);
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].mode == lesson.baseline) result.baseline = i;
  }
  return result;
}

void time_forwards(std::vector<LessonResult>& results, Device device) {
  Progress progress;
  for (size_t eager = 0; eager < results.size(); ++eager) {
    if (results[eager].baseline != SIZE_MAX) continue;
    std::vector<size_t> places;
    std::vector<Forward> forwards;
    for (size_t i = eager; i < results.size(); ++i) {
      if (i != eager && results[i].baseline != eager) continue;
      places.push_back(i);
      forwards.push_back(results[i].forward);
    }
    const auto times_ns = interleaved_times(forwards, device, kTotalNs, progress);
    for (size_t i = 0; i < places.size(); ++i) {
      LessonResult& result = results[places[i]];
      result.wall_ns = spread_of(times_ns[i]).median;
      result.first_call_ns = std::max(0.0, result.first_call_ns - result.wall_ns);
      if (i > 0) result.saving = saving_of(times_ns[0], times_ns[i]);
    }
  }
}

}  // namespace epi::cli
