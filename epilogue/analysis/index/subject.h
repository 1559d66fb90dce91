// SPDX-License-Identifier: Apache-2.0
// What a question is about: the instances of a step, an annotation or an operator, with what each
// owns. Steps and annotations own the launches of every thread that begin inside of them; an
// operator owns those of its own thread, so that it does not take a neighbour's.
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
  bool of_ops = false;
};

using NameTest = std::function<bool(std::string_view)>;

// The steps, or the whole trace where it has none.
Subject step_subject(const TraceIndex& index);
Subject trace_subject(const TraceIndex& index);
// The annotations whose names pass, steps by their own (`ProfilerStep#3`) included; the operators
// where no annotation does. Without instances where nothing is called so.
Subject named_subject(const TraceIndex& index, std::string_view title, const NameTest& is_named);
Subject named_subject(const TraceIndex& index, std::string_view name);

// Every annotation by name, without the steps.
std::vector<Subject> annotation_subjects(const TraceIndex& index);

// Operators, annotations and calls that begin inside of an instance, on every thread or on that of
// an operator; in the order of their threads, then of time. The instance itself is among them.
std::vector<trace::EventId> host_events(const TraceIndex& index, const Subject& subject,
                                        size_t instance);

}  // namespace epi::analysis
