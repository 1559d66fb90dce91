// SPDX-License-Identifier: Apache-2.0
// What each step and each annotation cost. An instance owns the launches of any thread that start
// inside it, and the device work they start, whenever it runs. `backward` therefore owns its
// kernels although another thread launches them. Device work whose launch is not in the trace
// belongs to no instance.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct Measures {
  int64_t cpu_ns = 0;     // from start to end
  int64_t device_ns = 0;  // sum over kernels, copies and memsets
  int64_t kernels = 0;
  int64_t memcpys = 0;
  int64_t memsets = 0;
  int64_t launches = 0;   // calls that started device work
  int64_t syncs = 0;      // calls that wait for the device
  int64_t busy_ns = 0;    // union of the device work
  int64_t window_ns = 0;  // from the start to the later of the instance's end and the work's end

  double busy() const {
    return window_ns == 0 ? 0 : static_cast<double>(busy_ns) / static_cast<double>(window_ns);
  }
  int64_t idle_ns() const { return window_ns - busy_ns; }
  double idle() const { return window_ns == 0 ? 0 : 1 - busy(); }
};

struct Instance {
  trace::EventId event = trace::kNoEvent;  // kNoEvent for the whole trace
  std::string name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Measures measures;
  bool cold = false;  // over twice the median of its group
};

// The events that an instance owns, each list in order of launch time.
struct Owned {
  std::vector<trace::EventId> work;      // kernels, copies and memsets
  std::vector<trace::EventId> launches;  // calls that started device work
  std::vector<trace::EventId> syncs;     // calls that wait for the device
};

// Computes what instances own. Built once per trace.
class Ownership {
 public:
  Ownership(const trace::Trace& trace, const trace::Links& links);

  // Events that start, or are launched, in [begin, end), in order.
  Owned owned(int64_t begin_ns, int64_t end_ns) const;
  Measures measure(int64_t begin_ns, int64_t end_ns) const {
    return measure(begin_ns, end_ns, owned(begin_ns, end_ns));
  }
  // The measures of an instance that owns exactly `owned`.
  Measures measure(int64_t begin_ns, int64_t end_ns, const Owned& owned) const;
  // Number and time of the work that is launched in [begin, end).
  struct WorkSum {
    int64_t count = 0;
    int64_t ns = 0;
  };
  WorkSum work_between(int64_t begin_ns, int64_t end_ns) const;
  // Everything in the trace, including device work with neither a launch nor an operator, which no
  // instance owns.
  Owned everything() const;
  const StepMarks& marks() const { return marks_; }

 private:
  struct Moment {
    int64_t ns;
    trace::EventId id;
  };
  static std::vector<trace::EventId> between(const std::vector<Moment>& moments, int64_t begin_ns,
                                             int64_t end_ns);

  const trace::Trace& trace_;
  StepMarks marks_;
  std::vector<Moment> work_;          // device work by launch time
  std::vector<int64_t> work_sums_;    // total time of the work before each of `work_`, and of all
  std::vector<Moment> unattributed_;  // device work with neither a launch nor an operator
  std::vector<Moment> launches_;      // calls that started device work
  std::vector<Moment> syncs_;
};

// The instances of one annotation, or of the steps.
struct InstanceGroup {
  std::string name;
  std::vector<Instance> instances;

  // The trace marks no steps: the only instance is the whole trace.
  bool is_whole_trace() const {
    return instances.size() == 1 && instances[0].event == trace::kNoEvent;
  }
};

// True for a runtime call that waits for the device.
bool is_synchronizing(std::string_view call);
// True for a user annotation on the host. Steps may be among them.
bool is_annotation(const trace::Trace& trace, trace::EventId id);
// The whole trace as one instance.
Instance whole_trace(const trace::Trace& trace, const Ownership& ownership);
// The steps, in order. The whole trace as one instance if it has no steps.
InstanceGroup steps(const trace::Trace& trace, const Ownership& ownership);
// All other annotations, grouped by name, in order of first occurrence.
std::vector<InstanceGroup> annotations(const trace::Trace& trace, const Ownership& ownership);

// The median of each measure. `busy`, `busy_ns` and `idle_ns` are medians over the instances, not
// derived from the other medians.
struct MedianMeasures {
  double cpu_ns = 0;
  double device_ns = 0;
  double kernels = 0;
  double memcpys = 0;
  double memsets = 0;
  double launches = 0;
  double busy = 0;
  double busy_ns = 0;
  double idle_ns = 0;
  int64_t kernels_min = 0;
  int64_t kernels_max = 0;
};
MedianMeasures median_measures(const InstanceGroup& group);

// Sum of durations, in nanoseconds.
double device_time(const trace::Trace& trace, std::span<const trace::EventId> work);

// The index of the instance that represents its group in every verb. Candidates are the instances
// with device work that are not cold. If more than half of them share a kernel count, only those
// remain. The candidate with the median device time is chosen. `group` must not be empty.
size_t typical_instance(const InstanceGroup& group);

}  // namespace epi::analysis
