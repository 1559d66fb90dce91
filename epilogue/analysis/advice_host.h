// SPDX-License-Identifier: Apache-2.0
// Advice about the CPU: launches, waits, compiled code's guards.
#pragma once

#include <vector>

#include "epilogue/analysis/advise.h"

namespace epi::analysis {

// Of one instance: everything that it owns, and the host events that begin inside of it.
struct HostView {
  const Examined& examined;
  const Instance& instance;
  const Owned& owned;
  std::vector<trace::EventId> events;
};

void advise_launches(const HostView& view, const TimeUse& use, std::vector<Advice>& advice);
void advise_waits(const HostView& view, std::vector<Advice>& advice);
void advise_compiled(const HostView& view, std::vector<Advice>& advice);
// Compiling anywhere in the trace; gives how long it took.
double advise_compiling(const Examined& examined, std::vector<Advice>& advice);

// How many compiled regions begin in the instance.
int64_t compiled_regions(const HostView& view);

}  // namespace epi::analysis
