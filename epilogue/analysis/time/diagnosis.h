// SPDX-License-Identifier: Apache-2.0
// Diagnoses what limits a step from its critical path. Every verb uses this diagnosis.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/index/subject.h"
#include "epilogue/analysis/time/idle.h"
#include "epilogue/analysis/time/step_graph.h"

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
  kNotInFile,
  kMixed,          // none is large enough
  kCapture,        // captures a CUDA graph: launches start nothing
  kNotConclusive,  // most of the path waits for something that is not in the trace
  kNoDevice,       // the trace has no device work
};
inline constexpr size_t kLimiters = 10;  // those that a path can have
Limiter limiter_of(Bound bound);

struct Diagnosis {
  std::string name;          // of the subject: "ProfilerStep*"
  std::string shown;         // of the instance: "ProfilerStep#3"
  bool whole_trace = false;  // the trace marks no steps
  int64_t instances = 0;
  int64_t judged = 1;  // instances in the window: several if they overlap
  Interval window;     // the diagnosed time: the typical instance with the work that it owns
  int64_t clipped_ns =
      0;  // cut from the start: earlier work, or a wait for something outside the trace
  bool launches_missing = false;  // for most device work in the window: the path is unknown
  int64_t busy_ns = 0;            // with any device work, within the window
  BoundTimes bounds{};            // of the critical path; sums up to the window
  std::vector<PathPart> path;
  std::vector<IdleGap> gaps;               // times without device work
  std::shared_ptr<const StepGraph> graph;  // over the window
  // Graph of consecutive instances, if they synchronize and do not overlap.
  std::shared_ptr<const StepGraph> sequence;
  int64_t sequence_count = 0;
  Interval sequence_window;
  Limiter limiter = Limiter::kNoDevice;

  int64_t window_ns() const { return window.end - window.begin; }
  double share(Bound bound) const;
  int64_t ns(Limiter limiter) const;
  double share(Limiter limiter) const;
  // Device idle time that a host without overhead would avoid: not launched yet because of dispatch
  // and launches, launch latency, gaps between kernels.
  int64_t host_idle_ns() const;
  // Host time on the path that is not dispatch. More than a millisecond inside one operator, or
  // between two, is the program's own work: computation on the CPU, Python, sleeping.
  int64_t program_host_ns() const;
  // Device idle time that nothing in the trace explains.
  int64_t unexplained_idle_ns() const;
  // Share of the window that waits for something outside the trace, on the path or on the device.
  double unexplained_share() const;
  // Whether rates decide most of the path's compute-bound time. Otherwise it is what is typical for
  // GEMMs, convolutions and attention.
  bool is_compute_measured() const;
  // An instance after a change.
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

// Diagnoses the typical instance of a subject. None if it owns no device work.
std::optional<Diagnosis> diagnose(const TraceIndex& index, const Subject& subject);
// Diagnoses the steps, then every annotation that owns device work. Empty without device work.
std::vector<Diagnosis> diagnoses(const TraceIndex& index);

}  // namespace epi::analysis
