// SPDX-License-Identifier: Apache-2.0
// Which GPU work belongs to a range of host time. A step or annotation owns the launches of any
// thread that start inside it, and the work that they start, whenever it runs. `backward` therefore
// owns its kernels although another thread launches them. Work without a launch counts at the start
// of the operator that calls it. Work with neither belongs to the whole trace alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// The events that an instance owns, each list in order of launch time. `Ownership` or the group of
// instances holds the lists.
struct Owned {
  std::span<const trace::EventId> work;      // kernels, copies and memsets
  std::span<const trace::EventId> launches;  // calls that started GPU work
  std::span<const trace::EventId> lost;      // calls that launch kernels and started nothing
  std::span<const trace::EventId> syncs;     // calls that wait for the device
};

// Built once per trace, which must outlive it.
class Ownership {
 public:
  Ownership(const trace::Trace& trace, const trace::Links& links);

  // Events that start, or are launched, in [begin, end), in order.
  Owned owned(int64_t begin_ns, int64_t end_ns) const;
  // Everything in the trace, including work with neither a launch nor an operator.
  Owned everything() const;
  // Number and time of the work that is launched in [begin, end).
  struct WorkSum {
    int64_t count = 0;
    int64_t ns = 0;
  };
  WorkSum work_between(int64_t begin_ns, int64_t end_ns) const;
  // Work with neither a launch nor an operator.
  std::span<const trace::EventId> unattributed() const { return unattributed_.ids; }
  // More than half of the time of all work is unattributed: steps own too little to be judged.
  bool are_launches_missing() const { return launches_missing_; }
  const StepMarks& marks() const { return marks_; }

 private:
  // Events by time, in two columns of one length.
  struct Moments {
    std::vector<int64_t> ns;
    std::vector<trace::EventId> ids;
    void add(int64_t at_ns, trace::EventId id);
    void sort();
    std::span<const trace::EventId> between(int64_t begin_ns, int64_t end_ns) const;
    // The number of events before `at_ns`.
    size_t before(int64_t at_ns) const;
  };
  void add_work(const trace::Trace& trace, const trace::Links& links,
                std::vector<bool>& starts_work);
  void add_calls(const trace::Trace& trace, const std::vector<bool>& starts_work);

  StepMarks marks_;
  Moments work_;                    // by launch time
  std::vector<int64_t> work_sums_;  // total time of the work before each of `work_`, and of all
  Moments unattributed_;
  std::vector<trace::EventId> everything_;  // both, by launch time
  Moments launches_;
  Moments lost_;
  Moments syncs_;
  bool launches_missing_ = false;
};

// True for a runtime call that waits for the device.
bool is_synchronizing(std::string_view call);

// Sum of durations, in nanoseconds.
double device_time(const trace::Trace& trace, std::span<const trace::EventId> work);

}  // namespace epi::analysis
