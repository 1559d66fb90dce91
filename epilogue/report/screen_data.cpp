// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/screen_data.h"

#include <algorithm>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/time/bound.h"

namespace epi::report {

using analysis::Diagnosis;

std::optional<double> mfu(const ScreenData& data) {
  const auto& diagnosis = data.advised.diagnosis;
  if (!diagnosis || data.groups.flops <= 0 || diagnosis->window_ns() <= 0) {
    return std::nullopt;
  }
  return data.groups.peak_ns / static_cast<double>(diagnosis->window_ns());
}

namespace {

// Adds the time of communication and of copies that no other work overlaps.
void add_exposed(const analysis::TraceIndex& index, const analysis::Interval& window,
                 ScreenData& data) {
  analysis::Intervals communication;
  analysis::Intervals copies;
  analysis::Intervals others;
  for (const trace::EventId id : index.ownership.everything().work) {
    const int64_t begin = std::max(window.begin, index.trace.ts_ns[id]);
    const int64_t end = std::min(window.end, index.trace.end_ns(id));
    if (begin >= end) continue;
    const analysis::Bound bound = analysis::typical_bound_of_work(index, id);
    (bound == analysis::Bound::kCommunication ? communication
     : bound == analysis::Bound::kCopies      ? copies
                                              : others)
        .push_back({begin, end});
  }
  communication = analysis::merged(std::move(communication));
  others = analysis::merged(std::move(others));
  data.communication_alone_ns = analysis::length(analysis::difference(communication, others));
  others.insert(others.end(), communication.begin(), communication.end());
  data.copies_alone_ns = analysis::length(analysis::difference(
      analysis::merged(std::move(copies)), analysis::merged(std::move(others))));
}

// Adds what recording the trace cost: profiler overhead and Python stacks.
void add_recording_cost(const analysis::TraceIndex& index, const analysis::Interval& window,
                        ScreenData& data) {
  const trace::Trace& trace = index.trace;
  analysis::Intervals overhead;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    data.has_stacks |= trace.category[id] == trace::Category::kPythonFunction;
    if (trace.category[id] != trace::Category::kOverhead || !trace.is_span(id)) continue;
    const int64_t begin = std::max(window.begin, trace.ts_ns[id]);
    const int64_t end = std::min(window.end, trace.end_ns(id));
    if (begin < end) overhead.push_back({begin, end});
  }
  for (const analysis::Interval& one : analysis::merged(std::move(overhead))) {
    data.profiler_ns += one.end - one.begin;
  }
}

}  // namespace

ScreenData screen_data(const analysis::TraceIndex& index) {
  ScreenData data;
  data.summary = analysis::summarize(index, false);
  data.advised = analysis::advise(index, std::nullopt);
  if (!data.advised.diagnosis) return data;
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  data.summary.diagnoses = {diagnosis};
  std::vector<trace::EventId> work;
  for (const trace::EventId id : index.ownership.everything().work) {
    const bool inside = index.trace.ts_ns[id] >= diagnosis.window.begin &&
                        index.trace.end_ns(id) <= diagnosis.window.end;
    // Work without a launch or operator counts only if most launches are missing.
    const bool owned = index.links.launch[id] != trace::kNoEvent ||
                       index.links.op[id] != trace::kNoEvent || diagnosis.launches_missing;
    if (inside && owned) work.push_back(id);
  }
  data.groups =
      analysis::work_groups(index, work, analysis::gpu_peaks(data.summary.device), kScreenGroups);
  data.loading = analysis::loading_in(index, diagnosis.window);
  add_exposed(index, diagnosis.window, data);
  add_recording_cost(index, diagnosis.window, data);
  return data;
}

}  // namespace epi::report
