// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/profiler.h"

#include <unistd.h>

#include <utility>

#include "epilogue/base/clock.h"
#include "epilogue/base/error.h"
#include "epilogue/profile/collect.h"
#include "epilogue/profile/event_recorder.h"

namespace epi::profile {
namespace {

constexpr int64_t kMaxSteps = int64_t{1} << 40;

void check_schedule(const Schedule& schedule) {
  const auto check = [](const char* name, int64_t value, int64_t min) {
    if (value > kMaxSteps)
      fail("profiler", "schedule: {} is {}, must be at most {}", name, value, kMaxSteps);
    if (value < min) fail("profiler", "schedule: {} is {}, must be at least {}", name, value, min);
  };
  check("wait", schedule.wait, 0);
  check("warmup", schedule.warmup, 0);
  check("active", schedule.active, 1);
  check("repeat", schedule.repeat, 0);
}

}  // namespace

Profiler::Profiler(ProfilerOptions options) : options_(std::move(options)) {
  if (options_.schedule) check_schedule(*options_.schedule);
  enter(phase_of(0));
}

Profiler::~Profiler() {
  if (phase_ == Phase::kWarmup || phase_ == Phase::kActive) EventRecorder::instance().drop();
}

Profiler::Phase Profiler::phase_of(int64_t step) const {
  if (!options_.schedule) return Phase::kActive;
  const auto [wait, warmup, active, repeat] = *options_.schedule;
  const int64_t cycle = wait + warmup + active;
  if (repeat != 0 && step / cycle >= repeat) return Phase::kDone;
  const int64_t place = step % cycle;
  return place < wait ? Phase::kWait : place < wait + warmup ? Phase::kWarmup : Phase::kActive;
}

bool Profiler::is_last_of_cycle(int64_t step) const {
  if (!options_.schedule) return false;
  const auto [wait, warmup, active, repeat] = *options_.schedule;
  return (step + 1) % (wait + warmup + active) == 0;
}

void Profiler::enter(Phase phase) {
  const bool recording = phase_ == Phase::kWarmup || phase_ == Phase::kActive;
  const bool records = phase == Phase::kWarmup || phase == Phase::kActive;
  if (records && !recording) {
    EventRecorder::instance().begin({options_.record_shapes, options_.profile_memory});
  } else if (phase == Phase::kActive && phase_ == Phase::kWarmup) {
    EventRecorder::instance().restart();
  }
  phase_ = phase;
  if (phase_ == Phase::kActive) begin_step();
}

// Steps are stored here and not in the thread's log, because they start and end in separate calls
// and may overlap other ranges without nesting.
void Profiler::begin_step() {
  if (options_.schedule) spans_.push_back({step_, now_ns(), 0, ::gettid()});
}

void Profiler::end_step() {
  if (!spans_.empty()) spans_.back().end_ns = now_ns();
}

// Calls the callback while nothing is being recorded. The next step starts even if the callback
// throws.
void Profiler::step() {
  if (phase_ == Phase::kDone) return;
  const int64_t ended = step_++;
  if (phase_ == Phase::kActive) end_step();
  if (phase_ == Phase::kActive && is_last_of_cycle(ended)) {
    phase_ = Phase::kWait;
    try {
      finish_cycle();
    } catch (...) {
      enter(phase_of(step_));
      throw;
    }
  }
  enter(phase_of(step_));
}

void Profiler::stop() {
  const Phase phase = std::exchange(phase_, Phase::kDone);
  if (phase == Phase::kWarmup) EventRecorder::instance().drop();
  if (phase != Phase::kActive) return;
  end_step();
  finish_cycle();
}

void Profiler::finish_cycle() {
  trace_ = collect(EventRecorder::instance().end(), std::exchange(spans_, {}));
  if (options_.on_trace_ready) options_.on_trace_ready(*trace_);
}

const trace::Trace& Profiler::trace() const {
  if (!trace_) {
    fail("profiler", "no trace is available: {}, or take_trace() was already called",
         options_.schedule ? "no cycle of the schedule has ended" : "stop() was not called");
  }
  return *trace_;
}

trace::Trace Profiler::take_trace() {
  trace();  // throws if there is none
  trace::Trace taken = std::move(*trace_);
  trace_.reset();
  return taken;
}

}  // namespace epi::profile
