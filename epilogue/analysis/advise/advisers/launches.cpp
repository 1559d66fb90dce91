// SPDX-License-Identifier: Apache-2.0
// Launches that the device waits for: a CUDA graph, or more rows per launch.
#include <algorithm>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/advise/step_changes.h"

namespace epi::analysis {

AdviceList advise_launches(const AdviserInput& input) {
  if (!input.diagnosis) return {};
  const Diagnosis& diagnosis = *input.diagnosis;
  constexpr double kMinShare = 0.15;
  constexpr double kMostlyIdle = 0.5;
  // Share of a profiled step's waiting that a graph removes. There is less of it without a
  // profiler. Measured in pairs of recordings on an H200, see docs/advise.md.
  constexpr Estimate kRemoved = {0.38, 0.55, 0.65};
  const auto waits = static_cast<double>(diagnosis.host_idle_ns());
  const auto window_ns = static_cast<double>(diagnosis.step_ns());
  const StepModel& step = input.step;
  const auto launched = step.owned.launches;
  const bool has_graph = std::any_of(launched.begin(), launched.end(), [&](trace::EventId id) {
    return input.index.trace.name_of(id).find("GraphLaunch") != std::string_view::npos;
  });
  if (window_ns <= 0 || waits < kMinShare * window_ns || diagnosis.limiter == Limiter::kCapture) {
    return {};
  }
  AdviceList list;
  const std::vector<Term> terms = {{Term::What::kDeviceWaits, waits},
                                   {Term::What::kWindow, window_ns},
                                   {Term::What::kLaunches, static_cast<double>(step.launches)}};
  constexpr int64_t kFewLaunches = 1;  // the graph itself is launched, too
  if (!has_graph && step.launches > kFewLaunches) {
    Advice one;
    one.kind = AdviceKind::kGraph;
    one.removes_ns = {kRemoved.low * waits, kRemoved.likely * waits, kRemoved.high * waits};
    // A graph cannot contain a wait for the device.
    one.confidence = step.syncs == 0 ? Confidence::kLikely : Confidence::kGuess;
    one.terms = terms;
    one.events.assign(launched.begin(), launched.end());
    list.push_back(std::move(one));
  }
  if (has_graph) return list;  // a replay has a fixed number of rows
  if (waits < kMostlyIdle * window_ns || step.busy_ns == 0) return list;
  Advice batch;
  batch.kind = AdviceKind::kBatch;
  const auto busy_ns = static_cast<double>(step.busy_ns);
  // Time per original batch at twice the rows: half of the larger of the host's and the device's
  // time.
  const auto saved = [&](const HostSpeed& host) {
    StepChange change;
    set_host(host, change);
    const double now_ns = diagnosis.after(change).ns;
    return std::max(0.0, now_ns - std::max(now_ns, 2 * busy_ns) / 2);
  };
  const auto& [fast, likely, recorded] = kUnprofiledHosts;
  batch.removes_ns = {saved(fast), saved(likely), saved(recorded)};
  batch.terms = terms;
  batch.terms.push_back(
      {Term::What::kRowsCouldGrow, window_ns / static_cast<double>(step.busy_ns)});
  list.push_back(std::move(batch));
  return list;
}

}  // namespace epi::analysis
