// SPDX-License-Identifier: Apache-2.0
// The times of every event as PyTorch computes them for its table: in microseconds as doubles,
// added in PyTorch's order, so that the last printed digit and the row order match. This reproduces
// PyTorch's quirks (see pytorch_times.cpp).
#pragma once

#include <vector>

#include "epilogue/analysis/pytorch/pytorch_memory.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct EventTimes {
  double cpu_us = 0;
  double self_cpu_us = 0;
  double device_us = 0;
  double self_device_us = 0;
};
struct EventMemory {
  MemoryUse all{};
  MemoryUse self{};  // without that of the children
};

// An event with a row: a host event that was not merged into its parent, or a device event.
struct TimedEvent {
  trace::EventId id = trace::kNoEvent;
  EventTimes times;
};

// PyTorch lists an allocation outside all events as a separate event.
struct PytorchTimes {
  std::vector<TimedEvent> events;
  std::vector<EventMemory> memory;  // of each event; empty if the trace has no memory records
  std::vector<uint32_t> order;      // indices into `events`, in PyTorch's order
};

PytorchTimes pytorch_times(const trace::Trace& trace);

}  // namespace epi::analysis
