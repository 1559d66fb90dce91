// SPDX-License-Identifier: Apache-2.0
// The instances of a step, an annotation or an operator, each with what it owns. Steps and
// annotations own the launches of every thread that start inside them. An operator owns only the
// launches of its own thread that are nested in it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

struct Instance {
  trace::EventId event = trace::kNoEvent;  // kNoEvent for the whole trace
  std::string_view name;
  Interval host;  // from its start to its end on the host
  Owned owned;
};

// The trace and its index must outlive it.
struct InstanceGroup {
  std::string name;
  std::vector<Instance> instances;
  bool of_ops = false;                          // the instances are operators
  std::shared_ptr<const void> lists = nullptr;  // what operators own

  // The trace marks no steps: the only instance is the whole trace.
  bool is_whole_trace() const {
    return instances.size() == 1 && instances[0].event == trace::kNoEvent;
  }
};

// True for a user annotation on the host. Steps may be among them.
bool is_annotation(const trace::Trace& trace, trace::EventId id);

// The steps, in order. No instances if the trace marks none.
InstanceGroup step_instances(const TraceIndex& index);
// The whole trace as one instance: from its first event on the host or a device to its last.
InstanceGroup trace_instance(const TraceIndex& index);
// All annotations by name, in order of first occurrence, without the steps.
std::vector<InstanceGroup> annotation_instances(const TraceIndex& index);

using NameTest = std::function<bool(std::string_view)>;
// The annotations whose names pass the test, including single steps (`ProfilerStep#3`). The
// operators if no annotation passes. No instances if nothing has such a name.
InstanceGroup named_instances(const TraceIndex& index, std::string_view title,
                              const NameTest& is_named);

// Operators, annotations and calls that start inside an instance, including the instance itself.
// Covers every thread, or only the operator's thread if the instance is an operator. Ordered by
// thread, then by time.
std::vector<trace::EventId> host_events(const TraceIndex& index, trace::EventId instance,
                                        const Interval& host, bool is_op);

}  // namespace epi::analysis
