// SPDX-License-Identifier: Apache-2.0
// The times of every event as PyTorch computes them for its table: in microseconds as doubles,
// added in its order, so that the last printed digit and the order of rows come out alike. Where
// that is odd (see pytorch_times.cpp), it is odd here.
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
  MemoryUse memory{};
  MemoryUse self_memory{};
};

// An event that has a row: a host event that was not merged, or a device event.
struct TimedEvent {
  trace::EventId id = trace::kNoEvent;
  EventTimes times;
};

// PyTorch lists an allocation that falls into no event as one of its own.
struct PytorchTimes {
  std::vector<TimedEvent> events;
  std::vector<uint32_t> order;  // of `events`, as PyTorch lists them
};

PytorchTimes pytorch_times(const trace::Trace& trace);

}  // namespace epi::analysis
