// SPDX-License-Identifier: Apache-2.0
// Records what the runtime does, like PyTorch's profiler: every operator, annotation and kernel of
// every thread, either continuously or by a schedule of steps.
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

// A cycle has `wait` steps that are not recorded, `warmup` steps that are recorded and discarded,
// and `active` steps that are recorded and kept. Runs `repeat` cycles; 0 means no limit.
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
  // Called by `step` or `stop` with the trace of each finished cycle.
  std::function<void(const trace::Trace&)> on_trace_ready{};
};

// The constructor starts the profiler. Only one profiler can record at a time per process; a second
// one throws `Error`. One thread calls `step` and `stop`; events of all threads are recorded.
class Profiler {
 public:
  explicit Profiler(ProfilerOptions options = {});
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  // Ends the recording without producing a trace.
  ~Profiler();

  // Ends the current step of the schedule and starts the next one: `ProfilerStep#N` in the trace.
  void step();
  // Ends the recording. An incomplete cycle yields a trace of what was recorded. Further calls do
  // nothing.
  void stop();

  // The trace of the last finished cycle. Throws `Error` if there is none.
  const trace::Trace& trace() const;
  // Moves the trace out.
  trace::Trace take_trace();

 private:
  enum class Phase { kWait, kWarmup, kActive, kDone };

  Phase phase_of(int64_t step) const;
  bool is_last_of_cycle(int64_t step) const;
  void enter(Phase phase);
  void begin_step();
  void end_step();
  void finish_cycle();

  ProfilerOptions options_;
  Phase phase_ = Phase::kWait;
  int64_t step_ = 0;
  std::vector<StepSpan> spans_;  // of the current cycle
  std::optional<trace::Trace> trace_;
};

}  // namespace epi::profile
