// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/advice_check.h"

#include <algorithm>
#include <array>
#include <map>

#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/error.h"

namespace epi::analysis {
namespace {

using trace::EventId;

std::string name_or_none(const std::string& name) { return name.empty() ? "no steps" : name; }

// Time per step of the kernels of each name: the median over the steps.
std::map<std::string_view, double> times_by_name(const TraceIndex& index, const StepGroup& group) {
  std::map<std::string_view, std::vector<double>> all;
  for (const StepModel& step : group.steps) {
    std::map<std::string_view, double> here;
    for (const EventId id : step.owned.work) {
      here[index.trace.name_of(id)] += static_cast<double>(index.trace.dur_ns[id]);
    }
    for (const auto& [name, ns] : here) all[name].push_back(ns);
  }
  std::map<std::string_view, double> times;
  for (auto& [name, list] : all) times[name] = median(std::move(list));
  return times;
}

double noise_ns(const StepModels& before, const StepGroup& old_group, const StepModels& after,
                const StepGroup& new_group) {
  const auto old_times = times_by_name(before.index(), old_group);
  double shorter_ns = 0;
  for (const auto& [name, ns] : times_by_name(after.index(), new_group)) {
    const auto found = old_times.find(name);
    if (found != old_times.end()) shorter_ns += found->second - ns;
  }
  return std::abs(shorter_ns);
}

// What the shown step computes. Merged GEMMs, such as gate and up, have the FLOPs of both.
struct Content {
  // FLOPs of the GEMMs with the same rows and depth.
  std::map<std::array<int64_t, 3>, double> gemms;
  std::map<std::string_view, double> kernels;  // number by name
  bool has_generated = false;  // code of a compiler, which may contain GEMMs of unknown sizes
};

Content content_of(const TraceIndex& index, const StepModel& step) {
  Content content;
  for (const EventId id : step.owned.work) {
    if (index.trace.category[id] != trace::Category::kKernel) continue;
    const std::string_view name = index.trace.name_of(id);
    ++content.kernels[name];
    content.has_generated |= !decode_name(name).form.empty();
    const EventId op = index.links.op[id];
    const bool is_matrix = is_gemm(index.names[index.trace.name[id]].kind);
    if (op == trace::kNoEvent || !is_matrix) continue;
    if (const auto sizes = gemm_shape(index.trace, op, id)) {
      content.gemms[{sizes->batch, sizes->m, sizes->k}] += sizes->flops();
    }
  }
  return content;
}

// The share of `a` that `b` has, too.
template <typename Key>
double common_share(const std::map<Key, double>& a, const std::map<Key, double>& b) {
  double all = 0;
  double common = 0;
  for (const auto& [key, amount] : a) {
    all += amount;
    const auto found = b.find(key);
    if (found != b.end()) common += std::min(amount, found->second);
  }
  return all <= 0 ? 0 : common / all;
}

std::optional<double> same_work(const TraceIndex& before, const StepModel& old_step,
                                const TraceIndex& after, const StepModel& new_step) {
  const Content a = content_of(before, old_step);
  const Content b = content_of(after, new_step);
  // A graph's kernels have no operators and no sizes.
  const bool has_sizes = !a.gemms.empty() && !b.gemms.empty();
  if (has_sizes && b.has_generated) return common_share(b.gemms, a.gemms);
  if (has_sizes) return std::min(common_share(a.gemms, b.gemms), common_share(b.gemms, a.gemms));
  if (b.has_generated) return std::nullopt;
  return common_share(a.kernels, b.kernels);
}

int64_t gemm_count(const TraceIndex& index, const StepModel& step) {
  return std::count_if(step.owned.work.begin(), step.owned.work.end(),
                       [&](EventId id) { return is_gemm(index.names[index.trace.name[id]].kind); });
}

// All advice of some kinds that can be followed together, under the profiler as both runs.
template <typename Test>
Estimate saving_of(const AdviceReport& report, Test&& counts) {
  Estimate saving;
  for (const Advice& one : report.advice) {
    if (counts(one.kind)) saving.add(one.profiled_saving_ns);
  }
  return saving;
}

bool is_fusion(AdviceKind kind) {
  return kind == AdviceKind::kFuse || kind == AdviceKind::kRegenerate || kind == AdviceKind::kAddmm;
}

}  // namespace

AdviceCheck check_advice(const StepModels& before, const StepModels& after,
                         const std::optional<std::string>& under) {
  const AdviceReport report = advise(before, under);
  const StepGroup old_group = advice_subject(before, under);
  const StepGroup new_group = advice_subject(after, under);
  const StepModel& new_step = new_group.steps[new_group.shown()];
  if (report.step.kernels == 0 || new_step.kernels == 0) {
    fail("advise", "--against: the {} run has no GPU work",
         report.step.kernels == 0 ? "first" : "second");
  }
  const std::string new_subject = new_group.is_whole_trace() ? "" : new_group.name;
  if (report.subject != new_subject) {
    fail("advise",
         "--against: the first run has {}, the second {}; select a common one with --under",
         name_or_none(report.subject), name_or_none(new_subject));
  }
  AdviceCheck check;
  check.cpu_kernels = report.cpu_kernels;
  check.before_device = device_name(before.index().trace);
  check.after_device = device_name(after.index().trace);
  check.after_is_cut = is_cut(after.index().trace);
  check.same_work = same_work(before.index(), report.step, after.index(), new_step);
  check.compile_ns = device_time(after.index().trace, compilations(after));
  const double noise = noise_ns(before, old_group, after, new_group);
  check.step = {static_cast<double>(report.step.step_ns), static_cast<double>(new_step.step_ns),
                saving_of(report, is_fusion), noise};
  check.gpu = {static_cast<double>(report.step.gpu_ns), static_cast<double>(new_step.gpu_ns),
               report.fusion.saving_ns, noise};
  check.kernels = report.step.kernels;
  check.kernels_predicted = report.fusion.kernels_after;
  check.kernels_after = new_step.kernels;
  // Fewer GEMMs: gate and up are merged.
  const bool joined = gemm_count(after.index(), new_step) < gemm_count(before.index(), report.step);
  if (joined && !report.blocks.mlps.empty()) {
    const auto is_glu = [](AdviceKind kind) { return kind == AdviceKind::kGatedMlp; };
    check.change = Change::kGatedMlp;
    check.kernels_predicted = kernels_with_gated_mlps(report);
    check.step.saving_ns = saving_of(report, is_glu);
    check.gpu.saving_ns = {};
    for (const Advice& one : report.advice) {
      if (is_glu(one.kind)) check.gpu.saving_ns.add(one.removes_ns);
    }
  }
  return check;
}

}  // namespace epi::analysis
