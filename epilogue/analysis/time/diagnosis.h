// SPDX-License-Identifier: Apache-2.0
// What limits a step: what its critical path is made of. One diagnosis for every verb.
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

// Bounds that are removed in the same way. kMixed and on are verdicts alone.
enum class Limiter : uint8_t {
  kGpu,    // arithmetic, memory
  kHost,   // dispatch, launches
  kInput,  // the DataLoader
  kSynchronizing,
  kCommunication,
  kCopies,  // between host and device
  kAllocating,
  kInitializing,
  kCompiling,
  kNotInFile,
  kMixed,          // no one is large enough
  kCapture,        // a graph is captured: launches start nothing
  kNotConclusive,  // most of the path waits for something that is not in the file
  kNoDevice,       // the trace has no device work
};
inline constexpr size_t kLimiters = 10;  // that a path can have
Limiter limiter_of(Bound bound);

struct Diagnosis {
  std::string name;          // of what is judged: "ProfilerStep*"
  std::string shown;         // the instance: "ProfilerStep#3"
  bool whole_trace = false;  // no steps are marked
  int64_t instances = 0;
  int64_t judged = 1;      // instances in the window: all of them where they overlap
  Interval window;         // what is judged: the typical instance with the work that it owns
  int64_t clipped_ns = 0;  // before the window: work was queued behind something not in the file
  bool launches_missing = false;  // of most device work in the window: the path is not known
  int64_t busy_ns = 0;            // of the window, by any device work
  BoundTimes bounds{};            // the critical path; they add up to the window
  std::vector<PathPart> path;
  std::vector<IdleGap> gaps;               // when no device work ran
  std::shared_ptr<const StepGraph> graph;  // of the window
  // Of instances that follow each other, where they synchronise and do not overlap.
  std::shared_ptr<const StepGraph> row;
  int64_t row_count = 0;
  Interval row_window;
  Limiter limiter = Limiter::kNoDevice;

  int64_t window_ns() const { return window.end - window.begin; }
  double share(Bound bound) const;
  int64_t ns(Limiter limiter) const;
  double share(Limiter limiter) const;
  // Idle time of the device that a host without overhead would not have: not launched yet for
  // dispatch and launches, launch latency, gaps between kernels.
  int64_t host_idle_ns() const;
  // Of the path: host work that is not dispatch. What takes a millisecond inside of one operator,
  // or between two, is the program's own: a computation on the CPU, Python, sleeping.
  int64_t own_host_ns() const;
  // Idle time of the device that nothing in the file explains.
  int64_t unexplained_idle_ns() const;
  // Of the window, what waits for something that is not in the file: on the path, or the device.
  double unexplained_share() const;
  // An instance as it would be.
  struct After {
    double ns = 0;
    Limiter limiter = Limiter::kNoDevice;  // the largest of its critical path
  };
  After after(const StepChange& change) const;
  // The same in a row of steps, where what one leaves to the device runs beside the next one's
  // host. Of the window alone where the trace has no row of them.
  double ns_in_a_row(const StepChange& change) const;
  // Of the path, the largest first, without empty ones.
  std::vector<Limiter> largest() const;
  // The largest bound of the limiter; of the whole path where that is none.
  Bound bound() const;
};

// Of the typical instance of one subject; none where it owns no device work.
std::optional<Diagnosis> diagnose(const TraceIndex& index, const Subject& subject);
// Of the steps first, then of every annotation that owns device work. Empty without device work.
std::vector<Diagnosis> diagnoses(const TraceIndex& index);

}  // namespace epi::analysis
