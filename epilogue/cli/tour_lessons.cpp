// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/steps.h"
#include "epilogue/base/clock.h"
#include "epilogue/base/error.h"
#include "epilogue/cli/run_forwards.h"
#include "epilogue/cli/run_report.h"
#include "epilogue/cli/tour.h"
#include "epilogue/cli/workload.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/trace/writer.h"

namespace epi::cli {
namespace {

// Of `run mlp`, where no other width is asked for.
constexpr int64_t kUsualHidden = 3072;
// Enough that caches and clocks are as they stay.
constexpr int64_t kWarmUp = 20;

// What a lesson runs: eager, compiled or with a package's kernels.
struct Program {
  compiler::Function function;
  std::optional<Compiled> compiled;
};

Program make_program(const Lesson& lesson, const Workload& workload, Device device) {
  auto block = workload.make_block();
  if (!block) throw Error(block.error().message);
  if (!lesson.run.kernels.empty()) {
    return {prebuilt_function(*block, load_kernels(lesson.run.kernels, device, {})), {}};
  }
  if (auto options = parse_compile(lesson.run)) {
    options->cache = false;  // the first call shows what compiling costs
    const Compiled compiled(block->function, block->parameters, *options);
    return {compiled, compiled};
  }
  return {block->function, {}};
}

Workload planned(const RunFlags& flags, Device device) {
  const auto sizes = expand_sizes(flags);
  auto workload = plan_workload(flags, sizes.at(0), device);
  if (!workload) throw Error(workload.error().message);
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
  for (const KernelSum& kernel : sum_kernels(first_forward(trace, annotation))) {
    result.kernel_count += kernel.count;
    result.bytes += kernel.bytes;
    const std::string said =
        report::kernel_sentence(kernel.name, analysis::read_kernel_name(kernel.name));
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
  const analysis::Examined examined(result.trace);
  std::optional<analysis::Examined> other;
  std::vector<std::string> rules = lesson.rules;
  for (const LessonResult& earlier : before) {
    if (lesson.hidden_kept > 0 && earlier.mode == lesson.like) {
      rules.push_back(bytes_rule(lesson, x, earlier));
    }
  }
  for (const std::string& text : rules) {
    auto rule = analysis::parse_rule(text);
    if (!rule) throw BugError(rule.error().message);
    const analysis::LoadTrace load = [&](const std::string& mode) -> const analysis::Examined& {
      for (const LessonResult& earlier : before) {
        if (earlier.mode == mode) other.emplace(earlier.trace);
      }
      if (!other) throw BugError(fmt::format("no lesson is called {}", mode));
      return *other;
    };
    result.rules.push_back(analysis::check_rule(examined, *rule, load));
  }
}

Lesson lesson_of(const char* mode, const char* title, const char* expectation,
                 const RunFlags& run) {
  return {mode, title, expectation, run, {}, {}, 0, {}};
}

}  // namespace

std::vector<Lesson> tour_lessons(bool quick, Device device) {
  RunFlags linear;
  linear.workload = "linear";
  linear.device = device == kCpu ? "cpu" : "cuda";
  linear.in_dim = linear.out_dim = quick ? "256" : "768";
  linear.batch = quick ? "64" : "256";
  RunFlags mlp;
  mlp.workload = "mlp";
  mlp.device = linear.device;
  mlp.batch = quick ? "1" : "4";
  if (quick) {
    mlp.seq = "64";
    mlp.dim = "256";
    mlp.hidden = "1024";
  }
  const auto compiled = [](RunFlags flags, const char* fuse) {
    flags.compile = true;
    flags.fuse = fuse;
    return flags;
  };
  std::vector<Lesson> lessons;
  lessons.push_back(lesson_of(
      "linear eager", "A linear, eager",
      "y = x @ w.t() + b is one kernel. The transpose rewrites strides and launches nothing; the "
      "bias is added in the GEMM's epilogue, just before the result is written back.",
      linear));
  lessons.back().rules = {"linear_fwd: kernels == 1", "aten::t: gpu_time == 0",
                          "linear_fwd: no op aten::add"};
  lessons.push_back(lesson_of(
      "linear compile", "The same linear, compiled",
      "There is nothing to fuse: the kernel stays the same. Its name is its identity: the same "
      "name is the same work. The view bookkeeping is gone from the CPU, guards are new; on a "
      "small linear they may cost more than they save.",
      compiled(linear, "pointwise")));
  lessons.back().rules = {"linear_fwd: same kernels as linear eager", "linear_fwd: no op aten::t"};
  lessons.back().like = "linear eager";
  lessons.push_back(lesson_of(
      "mlp eager", "A gated MLP, eager",
      "down(gelu(gate(x)) * up(x)) is five kernels: three GEMMs, a gelu, a multiplication. "
      "Each linear shows several operators, and only its product reaches the device. Hidden "
      "activations move through memory eight times: two GEMMs write them, gelu reads and writes, "
      "mul reads two and writes one, the last GEMM reads them.",
      mlp));
  lessons.back().rules = {"mlp_fwd: kernels == 5", "mlp_fwd: gemm == 3", "mlp_fwd: pointwise == 2",
                          "mlp_fwd: count aten::linear == 3"};
  lessons.push_back(lesson_of(
      "mlp pointwise", "The MLP, compiled: pointwise fusion",
      "gelu and mul become one kernel, and gelu's result never goes to memory and back: two of the "
      "eight times that hidden activations are moved are gone. The GEMMs stay the same.",
      compiled(mlp, "pointwise")));
  lessons.back().rules = {"mlp_fwd: kernels == 4", "mlp_fwd: gemm == 3", "mlp_fwd: no op aten::t"};
  lessons.back().like = "mlp eager";
  lessons.back().hidden_kept = 2;
  lessons.push_back(lesson_of(
      "mlp epilogue", "The MLP, compiled: fusion into the GEMM's epilogue",
      "gate and up become one kernel that activates and multiplies before it writes: the hidden "
      "activations are written once and read once, two of eight. Another batch runs the same code, "
      "without a recompile.",
      compiled(mlp, "epilogue")));
  lessons.back().rules = {"mlp_fwd: kernels == 2", "mlp_fwd: no op aten::t"};
  lessons.back().like = "mlp eager";
  lessons.back().hidden_kept = 6;
  lessons.back().other_batch = quick ? "3" : "6";
  RunFlags prebuilt = mlp;
  prebuilt.kernels = "epilogue/glu@1";
  lessons.push_back(lesson_of(
      "mlp prebuilt", "The MLP with a prebuilt kernel",
      "A package of a fixed version does what the compiler's pointwise fusion does, for every "
      "shape, without compiling and without guards.",
      prebuilt));
  lessons.back().rules = {"mlp_fwd: kernels == 4", "mlp_fwd: gemm == 3"};
  lessons.back().like = "mlp eager";
  lessons.back().hidden_kept = 2;
  return lessons;
}

LessonResult run_lesson(const Lesson& lesson, Device device, const std::string& folder,
                        const std::vector<LessonResult>& before) {
  const Workload workload = planned(lesson.run, device);
  const std::vector<Tensor> inputs = workload.make_inputs();
  LessonResult result;
  result.mode = lesson.mode;
  const int64_t start_ns = now_ns();
  const Program program = make_program(lesson, workload, device);
  const Forward forward = [&] {
    const RecordFunction range(workload.annotation);
    program.function(inputs);
  };
  forward();
  wait_for(device);
  const auto first_ns = static_cast<double>(now_ns() - start_ns);
  Progress progress;
  warm_up(forward, kWarmUp, progress);
  result.trace = recorded_forwards(forward, {2, 2, 11}, progress);
  const auto times = timed_forwards(forward, device, progress).forward_ns;
  result.wall_ns = times[times.size() / 2];
  std::string name = lesson.mode;
  std::replace(name.begin(), name.end(), ' ', '_');
  result.trace_path = fmt::format("{}/{}.json", folder, name);
  const auto written = trace::write(result.trace, result.trace_path);
  if (!written) throw Error(written.error().message);
  measure(result.trace, workload.annotation, result);
  check_rules(lesson, before, inputs[0], result);
  if (!lesson.other_batch.empty()) check_other_batch(lesson, program, device, result);
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].mode != lesson.like) continue;
    result.compared_with = i;
    result.first_call_ns = std::max(0.0, first_ns - result.wall_ns);
    const double saved_ns = before[i].wall_ns - result.wall_ns;
    if (saved_ns > 0) {
      result.pays_back_after = static_cast<int64_t>(std::ceil(result.first_call_ns / saved_ns));
    }
  }
  return result;
}

}  // namespace epi::cli
