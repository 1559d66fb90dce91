// SPDX-License-Identifier: Apache-2.0
// Diagnoses what limits the steps of a group from their critical paths. Every verb uses this
// diagnosis. The verdict is about all warm steps, the figures about one of them, the shown step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

// Groups of bounds that share a remedy. The values from kMixed on are only verdicts.
enum class Limiter : uint8_t {
  kGpu,    // compute, memory
  kHost,   // dispatch, launches
  kInput,  // the DataLoader
  kSynchronizing,
  kCommunication,
  kCopies,  // between host and device
  kAllocating,
  kInitializing,
  kCompiling,
  kNotInTrace,
  kMixed,          // none is large enough
  kCapture,        // captures a CUDA graph: launches start nothing
  kNotConclusive,  // most of the path waits for something that is not in the trace
  kNoDevice,       // the trace has no device work
};
inline constexpr size_t kLimiters = 10;  // those that a path can have
inline constexpr size_t kAllLimiters = 14;
Limiter limiter_of(Bound bound);

// What a verdict follows from: times of one step, or their sums over several.
struct Evidence {
  BoundTimes bounds{};  // of the critical path, by the typical bound of each kernel's kind
  int64_t path_ns = 0;  // the sum of the bounds
  int64_t window_ns = 0;
  int64_t running_ns = 0;           // the device runs something
  int64_t idle_ns = 0;              // it runs nothing
  int64_t unexplained_idle_ns = 0;  // the trace does not show what it waits for
  bool captures_graph = false;

  void add(const Evidence& other);
};
Limiter limiter_of(const Evidence& evidence);

// The verdict on one of the judged steps.
struct StepVerdict {
  size_t place = 0;  // in its group
  std::string_view name;
  Limiter limiter = Limiter::kNoDevice;
};

struct Diagnosis {
  std::string name;  // of the group: "ProfilerStep*"
  int64_t instances = 0;
  std::vector<StepVerdict> judged;  // the warm steps
  Limiter limiter = Limiter::kNoDevice;
  // More than half of the device's time has no launch: the path is unknown.
  bool launches_missing = false;
  bool is_cut = false;        // the file is truncated
  int64_t lost_launches = 0;  // of all steps: calls that launch kernels and have no device work

  // The shown step, and what its lists point into.
  StepModel step;
  std::shared_ptr<const void> lists;
  TimeShares shares;          // on the shown device
  std::vector<IdleGap> gaps;  // in its window
  Interval analyzed;          // its window without what is clipped
  // Cut from the start of the window: it waits for something outside the trace.
  int64_t clipped_ns = 0;
  TimeShares analyzed_shares;  // on the shown device, of the analyzed time
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
  // Host time on the path that is not dispatch. More than a millisecond inside one operator, or
  // between two, is the program's own work: computation on the CPU, Python, sleeping.
  int64_t program_host_ns() const;
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

  Limiter limiter() const;
};
MissingWork missing_work(const TraceIndex& index);

}  // namespace epi::analysis
