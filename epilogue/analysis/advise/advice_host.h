// SPDX-License-Identifier: Apache-2.0
// Advice about the CPU: launches, waits, compiled code's guards.
#pragma once

#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/diagnosis.h"

namespace epi::analysis {

// Of one instance: everything that it owns, and the host events that begin inside of it.
struct HostView {
  const TraceIndex& index;
  const Instance& instance;
  const Owned& owned;
  std::vector<trace::EventId> events;
};

void advise_launches(const HostView& view, const Diagnosis& diagnosis, std::vector<Advice>& advice);
// Loading data while the device waits.
// Allocating inside of the step, and collectives that nothing hides.
void advise_runtime(const Diagnosis& diagnosis, std::vector<Advice>& advice);
void advise_input(const HostView& view, const Diagnosis& diagnosis, std::vector<Advice>& advice);
void advise_waits(const HostView& view, std::vector<Advice>& advice);
void advise_compiled(const HostView& view, std::vector<Advice>& advice);
// Compiling inside of the steps; gives how long it took.
double advise_compiling(const TraceIndex& index, std::vector<Advice>& advice);

// Whether compiled regions launch more than half of the instance's device time.
bool is_compiled(const HostView& view);
// Whether graphs do.
bool replays_graphs(const HostView& view);

}  // namespace epi::analysis
