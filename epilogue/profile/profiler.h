// SPDX-License-Identifier: Apache-2.0
// Records what the runtime does, as PyTorch's profiler does: every operator, annotation and kernel
// of every thread, all the time or by a schedule of steps.
//
//   profile::Profiler profiler({.record_shapes = true});
//   mlp.forward(x);
//   profiler.stop();
//   trace::write(profiler.trace(), "mlp.json.gz");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "epilogue/profile/step_span.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

// Steps, in cycles: `wait` unrecorded, `warmup` recorded and dropped, `active` recorded and kept.
// `repeat` cycles, or without end where it is 0.
struct Schedule {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 1;
};

struct ProfilerOptions {
  bool record_shapes = false;          // inputs: shapes, strides, dtypes, scalars
  bool profile_memory = false;         // allocations
  std::optional<Schedule> schedule{};  // none: everything until `stop`
  // Called with each cycle's trace as soon as it is there, by `step` or `stop`.
  std::function<void(const trace::Trace&)> on_trace_ready{};
};

// Begins when it is made. One records at a time in a process: a second one throws `Error`. `step`
// and `stop` are called by one thread; what is recorded may run in any.
class Profiler {
 public:
  explicit Profiler(ProfilerOptions options = {});
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  // Ends the recording; a trace that nobody fetched is lost.
  ~Profiler();

  // One step of the schedule is over and the next begins: `ProfilerStep#N` in the trace.
  void step();
  // Ends the recording; a cycle that is not complete gives a trace of what it has. Does nothing the
  // second time.
  void stop();

  // Of the last cycle that ended. Throws `Error` where none has.
  const trace::Trace& trace() const;
  // The same, handed over.
  trace::Trace take_trace();

 private:
  enum class Phase { kWait, kWarmup, kActive, kDone };

  // What the step with this number is in.
  Phase phase_of(int64_t step) const;
  bool is_last_of_cycle(int64_t step) const;
  void enter(Phase phase);
  void begin_step();
  void end_step();
  void finish_cycle();

  ProfilerOptions options_;
  Phase phase_ = Phase::kWait;
  int64_t step_ = 0;
  std::vector<StepSpan> spans_;  // of the cycle so far
  std::optional<trace::Trace> trace_;
};

}  // namespace epi::profile
