// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/overview/overview.h"

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/intervals.h"

namespace epi::analysis {
namespace {

// Adds what recording the trace cost: profiler overhead and Python stacks.
void add_recording_cost(const trace::Trace& trace, const Interval& window, Overview& overview) {
  Intervals overhead;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    overview.has_stacks |= trace.category[id] == trace::Category::kPythonFunction;
    if (trace.category[id] != trace::Category::kOverhead || !trace.is_span(id)) continue;
    overhead.push_back({trace.ts_ns[id], trace.end_ns(id)});
  }
  overview.profiler_ns = length(clipped(merged(std::move(overhead)), window.begin, window.end));
}

// Adds how much of the step's GPU time has a kind that its name does not give.
void add_unread_names(const TraceIndex& index, const StepModel& step, Overview& overview) {
  if (step.gpu_ns == 0) return;
  const auto share_of = [&](trace::EventId id) {
    return static_cast<double>(index.trace.dur_ns[id]) / static_cast<double>(step.gpu_ns);
  };
  for (const trace::EventId id : step.owned.work) {
    const trace::NameId name = index.trace.name[id];
    if (index.names.is_kind_of_op(name)) overview.kind_of_op_share += share_of(id);
    if (index.names[name].kind == Kind::kUnknown) overview.unknown_share += share_of(id);
  }
}

}  // namespace

Overview::Overview(const StepModels& models)
    : summary(summarize(models)), advised(advise(models, std::nullopt)) {
  if (!advised.diagnosis) return;
  const StepModel& step = advised.diagnosis->step;
  groups = work_groups(models.index(), step.owned.work, gpu_peaks(summary.device), kOverviewGroups);
  loading = loading_in(models.index(), step.window);
  host_work = host_work_on(models.index(), advised.diagnosis->path);
  add_unread_names(models.index(), step, *this);
  add_recording_cost(models.index().trace, step.window, *this);
}

std::optional<double> Overview::mfu() const {
  const auto& diagnosis = advised.diagnosis;
  if (!diagnosis || groups.flops <= 0 || diagnosis->step_ns() <= 0) return std::nullopt;
  return groups.peak_ns / static_cast<double>(diagnosis->step_ns());
}

}  // namespace epi::analysis
