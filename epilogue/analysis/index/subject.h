// SPDX-License-Identifier: Apache-2.0
// The subject of a question: the instances of a step, an annotation or an operator, each with what
// it owns. Steps and annotations own the launches of every thread that start inside them. An
// operator owns only the launches of its own thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

struct Subject {
  InstanceGroup group;
  std::vector<Owned> owned;  // by instance
  bool of_ops = false;       // the instances are operators
};

using NameTest = std::function<bool(std::string_view)>;

// The steps, or the whole trace if it has no steps.
Subject step_subject(const TraceIndex& index);
Subject trace_subject(const TraceIndex& index);
// The annotations whose names pass the test, including single steps (`ProfilerStep#3`). The
// operators if no annotation passes. No instances if nothing has such a name.
Subject named_subject(const TraceIndex& index, std::string_view title, const NameTest& is_named);
Subject named_subject(const TraceIndex& index, std::string_view name);

// All annotations by name, without the steps.
std::vector<Subject> annotation_subjects(const TraceIndex& index);

// Operators, annotations and calls that start inside an instance, including the instance itself.
// Covers every thread, or only the operator's thread if the instance is an operator. Ordered by
// thread, then by time.
std::vector<trace::EventId> host_events(const TraceIndex& index, const Subject& subject,
                                        size_t instance);

}  // namespace epi::analysis
