// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/expect/rule_parser.h"
#include "epilogue/analysis/index/steps.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/clock.h"
#include "epilogue/base/error.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/cli/run/workload.h"
#include "epilogue/cli/tour/tour.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/trace/writer.h"

namespace epi::cli {
namespace {

// Of `run mlp`, where no other width is asked for.
constexpr int64_t kUsualHidden = 3072;
// Enough that caches and clocks are as they stay.
constexpr int64_t kWarmUp = 20;

constexpr int64_t kRecorded = 21;
// A turn is at least as long, so that the clock's own cost does not count.
constexpr double kTurnNs = 2e6;
constexpr size_t kTurns = 15;

// What a lesson runs: eager, compiled or with a package's kernels.
struct Program {
  compiler::TensorFunction function;
  std::optional<Compiled> compiled;
};

Program make_program(const Lesson& lesson, const Block& block, Device device) {
  if (!lesson.run.kernels.empty()) {
    return {prebuilt_function(block, load_kernels(lesson.run.kernels, device, {})), {}};
  }
  if (auto options = parse_compile(lesson.run)) {
    options->cache = false;  // the first call shows what compiling costs
    const Compiled compiled(block.function, block.parameters, *options);
    return {compiled, compiled};
  }
  return {block.function, {}};
}

Workload planned(const RunFlags& flags, Device device) {
  const auto sizes = expand_sizes(flags);
  auto workload = plan_workload(flags, sizes.at(0), device);
  throw_if_failed(workload);
  return std::move(*workload);
}

// One more call with other rows: no variant may be added.
void check_other_batch(const Lesson& lesson, const Program& program, Device device,
                       LessonResult& result) {
  RunFlags flags = lesson.run;
  flags.batch = lesson.other_batch;
  program.function(planned(flags, device).make_inputs());
  wait_for(device);
  analysis::RuleResult rule;
  rule.rule.text = fmt::format("batch {}: no recompile", lesson.other_batch);
  if (!program.compiled) throw BugError("a lesson with another batch is compiled");
  rule.found = static_cast<double>(program.compiled->variants().size() - 1);
  rule.ok = *rule.found == 0;
  result.rules.push_back(std::move(rule));
}

void measure(const trace::Trace& trace, const std::string& annotation, LessonResult& result) {
  const trace::Links links = trace::link(trace);
  const analysis::Ownership ownership(trace, links);
  for (const auto& group : analysis::annotations(trace, ownership)) {
    if (group.name != annotation) continue;
    const auto median = analysis::median_measures(group);
    result.cpu_ns = median.cpu_ns;
    result.kernel_ns = median.device_ns;
  }
  const analysis::TraceIndex index(trace);
  const auto found = analysis::diagnose(index, analysis::named_subject(index, annotation));
  if (found) result.limiter = found->limiter;
  for (const KernelSum& kernel : sum_kernels(first_forward(trace, annotation))) {
    result.kernel_count += kernel.count;
    result.bytes += kernel.bytes;
    const std::string said =
        report::kernel_sentence(kernel.name, analysis::decode_name(kernel.name));
    result.kernels.push_back(kernel.count == 1 ? said : fmt::format("{} x {}", kernel.count, said));
  }
}

// "mlp_fwd: bytes <= 4915200B": what the lesson before it moved, less what need not move any more.
std::string bytes_rule(const Lesson& lesson, const Tensor& x, const LessonResult& like) {
  const int64_t hidden =
      lesson.run.hidden.empty() ? kUsualHidden : positive_number("--hidden", lesson.run.hidden);
  const int64_t rows = x.numel() / x.size(x.dim() - 1);
  const int64_t kept = lesson.hidden_kept * rows * hidden * size_bytes(x.dtype());
  return fmt::format("mlp_fwd: bytes <= {}B", like.bytes - kept);
}

void check_rules(const Lesson& lesson, const std::vector<LessonResult>& before, const Tensor& x,
                 LessonResult& result) {
  const analysis::TraceIndex index(result.trace);
  std::optional<analysis::TraceIndex> other;
  std::vector<std::string> rules = lesson.rules;
  for (const LessonResult& earlier : before) {
    if (lesson.hidden_kept > 0 && earlier.mode == lesson.like) {
      rules.push_back(bytes_rule(lesson, x, earlier));
    }
  }
  for (const std::string& text : rules) {
    auto rule = analysis::parse_rule(text);
    if (!rule) throw BugError(rule.error().message);
    const analysis::LoadTrace load = [&](const std::string& mode) -> const analysis::TraceIndex& {
      for (const LessonResult& earlier : before) {
        if (earlier.mode == mode) other.emplace(earlier.trace);
      }
      if (!other) throw BugError(fmt::format("no lesson is called {}", mode));
      return *other;
    };
    result.rules.push_back(analysis::check_rule(index, *rule, load));
  }
}

// Both run warm, and in turns: what disturbs the machine disturbs both.
Spread saving_of(const Forward& before, const Forward& after, Device device) {
  const double once_ns = std::max(timed(before, 3, device), 1.0);
  const auto calls = std::max<int64_t>(1, std::llround(kTurnNs / once_ns));
  std::vector<double> saved;
  for (size_t turn = 0; turn < kTurns; ++turn) {
    before();
    const double before_ns = timed(before, calls, device);
    after();
    saved.push_back(before_ns - timed(after, calls, device));
  }
  return spread_of(std::move(saved));
}

}  // namespace

LessonResult run_lesson(const Lesson& lesson, Device device, const std::string& folder,
                        const std::vector<LessonResult>& before) {
  // Weights and inputs are there before the first call, which loads the package or compiles.
  RunFlags eager = lesson.run;
  eager.kernels.clear();
  const Workload workload = planned(eager, device);
  const std::vector<Tensor> inputs = workload.make_inputs();
  const auto block = workload.make_block();
  throw_if_failed(block);
  LessonResult result;
  result.mode = lesson.mode;
  const int64_t start_ns = now_ns();
  const Program program = make_program(lesson, *block, device);
  const Forward forward = [annotation = workload.annotation, program, inputs] {
    const RecordFunction range(annotation);
    program.function(inputs);
  };
  result.forward = forward;
  forward();
  wait_for(device);
  const auto first_ns = static_cast<double>(now_ns() - start_ns);
  Progress progress;
  warm_up(forward, kWarmUp, progress);
  result.trace = recorded_forwards(forward, {2, 2, kRecorded}, progress);
  const auto times = timed_forwards(forward, device, progress).forward_ns;
  result.wall_ns = times[times.size() / 2];
  std::string name = lesson.mode;
  std::replace(name.begin(), name.end(), ' ', '_');
  result.trace_path = fmt::format("{}/{}.json", folder, name);
  const auto written = trace::write(result.trace, result.trace_path);
  throw_if_failed(written);
  measure(result.trace, workload.annotation, result);
  check_rules(lesson, before, inputs[0], result);
  if (!lesson.other_batch.empty()) check_other_batch(lesson, program, device, result);
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].mode != lesson.like) continue;
    result.compared_with = i;
    result.first_call_ns = std::max(0.0, first_ns - result.wall_ns);
    result.saving = saving_of(before[i].forward, forward, device);
  }
  return result;
}

}  // namespace epi::cli
