// SPDX-License-Identifier: Apache-2.0
// The times of every event as PyTorch computes them for its table: in microseconds as doubles,
// added in its order, so that the last printed digit and the order of rows come out alike. Where
// that is odd (see pytorch_times.cpp), it is odd here.
#pragma once

#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct EventTimes {
  double cpu_us = 0;
  double self_cpu_us = 0;
  double device_us = 0;
  double self_device_us = 0;
};

struct PytorchTimes {
  // Host events that have a row, and device events, in the order in which PyTorch lists them.
  std::vector<trace::EventId> order;
  std::vector<EventTimes> times;  // of each event in `order`
};

PytorchTimes pytorch_times(const trace::Trace& trace);

}  // namespace epi::analysis
