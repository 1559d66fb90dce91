// SPDX-License-Identifier: Apache-2.0
// Diagnoses what limits the steps of a group: what would make them shorter if it took no time.
// Every verb uses this diagnosis. The verdict is about all warm steps, other figures about one of
// them, the shown step. docs/verdicts.md has the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

// If the steps get shorter by less without any limiter, none dominates.
inline constexpr double kMinSaving = 0.02;

// What a verdict follows from: figures of one step, or their sums over several.
struct Evidence {
  BoundTimes bounds{};  // of the critical path, by the typical bound of each kernel's kind
  int64_t path_ns = 0;  // the sum of the bounds
  StepWithout retimed;
  int64_t window_ns = 0;
  int64_t compute_ns = 0;     // kernels other than collectives run
  LimiterTimes idle{};        // idle time of the device, by what it waits for
  int64_t capture_ns = 0;     // a CUDA graph is captured
  int64_t unrecorded_ns = 0;  // on the path, without any event

  void add(const Evidence& other);
};

// The verdict on one of the judged steps.
struct StepVerdict {
  size_t place = 0;  // in its group
  std::string_view name;
  Limiter limiter = Limiter::kNoDevice;
};

// A step that takes much longer than the shown one.
struct SlowStep {
  std::string_view name;
  int64_t step_ns = 0;
  Limiter reason = Limiter::kMixed;  // what its critical path has more of
};

struct Diagnosis {
  std::string name;  // of the group: "ProfilerStep*"
  int64_t instances = 0;
  std::vector<StepVerdict> judged;  // the warm steps
  Limiter limiter = Limiter::kNoDevice;
  StepWithout retimed;  // the judged steps without each limiter
  // A single step whose own work runs on after its end on the host, with another verdict up to the
  // end of that work. `limiter` and `retimed` are up to the end on the host: the next step could
  // start then.
  std::optional<Limiter> until_work_ends;
  // The limit of what follows the last start-up, if start-up is the verdict on a whole trace.
  std::optional<Limiter> after_start_up;
  std::vector<SlowStep> slow;  // in order; a few only
  int64_t slow_count = 0;
  int64_t slow_every = 0;  // one step in so many is slow; 0 if that is not regular
  // More than half of the device's time has no launch: the path is unknown.
  bool launches_missing = false;
  bool is_cut = false;        // the file is truncated
  int64_t lost_launches = 0;  // of all steps: calls that launch kernels and have no device work

  // The shown step, and what its lists point into.
  StepModel step;
  size_t shown_place = 0;
  std::shared_ptr<const void> lists;
  TimeShares shares;          // on the shown device
  std::vector<IdleGap> gaps;  // in its window
  Interval analyzed;          // its window without what is clipped
  // Cut from the start of the window: it waits for something outside the trace.
  int64_t clipped_ns = 0;
  TimeShares analyzed_shares;  // on the shown device, of the analyzed time
  int64_t unrecorded_ns = 0;   // host work on its path without any event
  std::vector<PathPart> path;  // covers `analyzed`
  BoundTimes bounds{};         // of the path

  // Graph of the shown step or, if steps overlap, of all steps from the first warm one on. Then the
  // path is a part of this graph's.
  std::shared_ptr<const StepGraph> graph;
  Interval graph_window;
  Interval graph_host;  // from the start of its first step on the host to the end of its last
  bool spans_steps = false;
  // If it spans steps, the graph of the first one. Its host does not run ahead yet, so a change is
  // judged by the time of the others.
  std::shared_ptr<const StepGraph> first_graph;
  // Graph of consecutive steps, if they synchronize and do not overlap.
  std::shared_ptr<const StepGraph> sequence;
  int64_t sequence_count = 0;
  Interval sequence_host;

  bool whole_trace() const { return step.event == trace::kNoEvent; }
  int64_t step_ns() const { return step.step_ns; }
  int64_t analyzed_ns() const { return analyzed.end - analyzed.begin; }
  // Shares of the analyzed time.
  double share(Bound bound) const;
  int64_t ns(Limiter limiter) const;
  double share(Limiter limiter) const;
  // The judged steps with another limiter than the verdict's.
  std::vector<StepVerdict> differing() const;
  // Device idle time that a host without overhead would avoid: not launched yet because of dispatch
  // and launches, launch latency, gaps between kernels.
  int64_t host_idle_ns() const;
  // Share of the analyzed time that waits for something outside the trace, on the path or on the
  // device.
  double unexplained_share() const;
  // Whether rates decide most of the path's compute-bound time. Otherwise it is what is typical for
  // GEMMs, convolutions and attention.
  bool is_compute_measured() const;
  // A step after a change.
  struct After {
    double ns = 0;
    Limiter limiter = Limiter::kNoDevice;  // the largest on its critical path
  };
  After after(const StepChange& change) const;
  // Time per step in a sequence of consecutive steps, whose device work can overlap the next step's
  // host work. The same as `after(change).ns` if the trace has no such sequence.
  double ns_in_sequence(const StepChange& change) const;
  // Limiters on the path, largest first, without empty ones.
  std::vector<Limiter> largest() const;
  // Limiters by how much shorter the judged steps are without them, largest first.
  std::vector<Limiter> by_saving() const;
  // The largest bound of the limiter. The largest of the whole path if the limiter is a verdict
  // only.
  Bound bound() const;
};

// Diagnoses a group. None if it owns no device work.
std::optional<Diagnosis> diagnose(const StepModels& models, const StepGroup& group);
// Diagnoses the judged group, then every annotation that owns device work. Empty without device
// work.
std::vector<Diagnosis> diagnoses(const StepModels& models);

// True if the file is truncated, so that work may be missing.
bool is_cut(const trace::Trace& trace);

// Why a trace without device work has none: the program uses no device, or it is not recorded.
struct MissingWork {
  bool is_cut = false;
  int64_t lost_launches = 0;
  bool has_host_events = false;  // without any, no event has a known category
  std::string other_device;      // a process of a device whose events are not read; often empty

  Limiter limiter() const;
};
MissingWork missing_work(const TraceIndex& index);

}  // namespace epi::analysis
