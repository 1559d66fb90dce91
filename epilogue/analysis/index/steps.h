// SPDX-License-Identifier: Apache-2.0
// What each step and each annotation cost. An instance owns the launches of any thread that begin
// inside it, and the device work that they start, whenever it runs: so that `backward`, whose
// kernels another thread launches, owns them. Work whose launch is not in the file belongs to none.
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
  int64_t cpu_ns = 0;     // from its start to its end
  int64_t device_ns = 0;  // kernels, copies and sets, added up
  int64_t kernels = 0;
  int64_t memcpys = 0;
  int64_t memsets = 0;
  int64_t launches = 0;   // calls that started something
  int64_t syncs = 0;      // calls that wait for the device
  int64_t busy_ns = 0;    // the union of the device work
  int64_t window_ns = 0;  // from the start to the later of the end and the work's end

  double busy() const {
    return window_ns == 0 ? 0 : static_cast<double>(busy_ns) / static_cast<double>(window_ns);
  }
  int64_t idle_ns() const { return window_ns - busy_ns; }
  double idle() const { return window_ns == 0 ? 0 : 1 - busy(); }
};

struct Instance {
  trace::EventId event = trace::kNoEvent;  // none for the whole trace
  std::string name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Measures measures;
  bool cold = false;  // over twice the median of its like
};

// What an instance owns, each kind by when it was asked for.
struct Owned {
  std::vector<trace::EventId> work;      // kernels, copies and sets
  std::vector<trace::EventId> launches;  // calls that started some of it, or of others
  std::vector<trace::EventId> syncs;     // calls that wait for the device
};

// Finds out what instances own; made once for a trace.
class Ownership {
 public:
  Ownership(const trace::Trace& trace, const trace::Links& links);

  // What begins, or is asked for, in [begin, end), in order.
  Owned owned(int64_t begin_ns, int64_t end_ns) const;
  Measures measure(int64_t begin_ns, int64_t end_ns) const {
    return measure(begin_ns, end_ns, owned(begin_ns, end_ns));
  }
  // Of an instance that owns just this.
  Measures measure(int64_t begin_ns, int64_t end_ns, const Owned& owned) const;
  // All of the trace: also work without a launch and an operator, which no instance owns.
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
  std::vector<Moment> work_;          // device work, by when it was asked for
  std::vector<Moment> unattributed_;  // the same, without a launch and an operator
  std::vector<Moment> launches_;      // calls that started some
  std::vector<Moment> syncs_;
};

// The instances of one annotation, or of the steps.
struct InstanceGroup {
  std::string name;
  std::vector<Instance> instances;
};

// A call of the runtime that waits for the device.
bool is_synchronizing(std::string_view call);
// An annotation that the user set on the host; steps are some of them.
bool is_annotation(const trace::Trace& trace, trace::EventId id);
// The whole trace as one instance.
Instance whole_trace(const trace::Trace& trace, const Ownership& ownership);
// The steps, in order; the whole trace as one where none are marked.
InstanceGroup steps(const trace::Trace& trace, const Ownership& ownership);
// Every other annotation by name, in the order in which names first occur.
std::vector<InstanceGroup> annotations(const trace::Trace& trace, const Ownership& ownership);

// The middle one of each measure; `busy` and `idle` are those of the instances, not of the middles.
struct MedianMeasures {
  double cpu_ns = 0;
  double device_ns = 0;
  double kernels = 0;
  double memcpys = 0;
  double memsets = 0;
  double launches = 0;
  double busy = 0;
  double idle_ns = 0;
  int64_t kernels_min = 0;
  int64_t kernels_max = 0;
};
MedianMeasures median_measures(const InstanceGroup& group);

// Durations added up, in nanoseconds.
double device_time(const trace::Trace& trace, std::span<const trace::EventId> work);

// The instance that stands for its like, for every verb: of those with device work that are not
// cold, and with the count of kernels that more than half of them have where there is one, the one
// whose device time is in the middle. Gives its place; `group` has at least one.
size_t typical_instance(const InstanceGroup& group);

}  // namespace epi::analysis
