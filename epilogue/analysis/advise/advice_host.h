// SPDX-License-Identifier: Apache-2.0
// Advice about the CPU: launches, waits, guards of compiled code.
#pragma once

#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/diagnosis.h"

namespace epi::analysis {

// One instance with everything that it owns and the host events that start inside it.
struct HostView {
  const TraceIndex& index;
  const Instance& instance;
  const Owned& owned;
  std::vector<trace::EventId> events;
};

void advise_launches(const HostView& view, const Diagnosis& diagnosis, std::vector<Advice>& advice);
// Allocation inside the step, and collectives that nothing overlaps.
void advise_runtime(const Diagnosis& diagnosis, std::vector<Advice>& advice);
// Data loading while the device waits.
void advise_input(const HostView& view, const Diagnosis& diagnosis, std::vector<Advice>& advice);
void advise_waits(const HostView& view, std::vector<Advice>& advice);
void advise_compiled(const HostView& view, std::vector<Advice>& advice);
// Compilation inside steps. Returns how long it took.
double advise_compiling(const TraceIndex& index, std::vector<Advice>& advice);

// True if compiled regions launch more than half of the instance's device time.
bool is_compiled(const HostView& view);
// True if CUDA graphs launch more than half of it.
bool replays_graphs(const HostView& view);

}  // namespace epi::analysis
