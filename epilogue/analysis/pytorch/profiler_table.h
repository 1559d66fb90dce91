// SPDX-License-Identifier: Apache-2.0
// The table of PyTorch's profiler: events of one name added up. Its rules are PyTorch's
// (`key_averages().table()`), so that its numbers can be held against each other:
//   - host events (ops, annotations, runtime calls) and device events make rows of their own;
//   - self time is a host event's duration less that of its children on the same thread;
//   - an op's device time is that of the device events that carry its external id, and total adds
//     those of the ops below it;
//   - an event whose only child has its name is one with it;
//   - memory is what is allocated less what is freed in an event's time, on any thread;
//   - FLOPs are those of a few operators, from their inputs' sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/pytorch/pytorch_memory.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// Over the calls of a row: their totals on the lane that the row belongs to.
struct Spread {
  double min_us = 0;
  double median_us = 0;
  double p90_us = 0;
};

struct TableRow {
  std::string name;      // steps together: "ProfilerStep*"
  std::string shapes{};  // of the inputs, as the trace has them; only where rows are by shape
  bool device = false;   // an event of a device, not of the host
  bool annotation = false;
  int64_t calls = 0;
  double self_cpu_us = 0;
  double cpu_total_us = 0;
  double self_device_us = 0;
  double device_total_us = 0;
  MemoryUse memory{};  // where the trace was recorded with profile_memory
  MemoryUse self_memory{};
  int64_t flops = 0;  // with with_flops; 0: not counted
  Spread spread{};
};

struct ProfilerTable {
  std::vector<TableRow> rows;  // in the order in which names first occur
  double self_cpu_total_us = 0;
  double self_device_total_us = 0;  // kernels, copies and sets: no annotations
  bool has_device = false;          // some row has device time
  bool has_memory = false;          // the trace was recorded with profile_memory
  bool has_device_memory = false;   // and some row allocates on a device
  bool has_flops = false;           // some row has FLOPs
  std::string device_name;          // what the device's columns are called: "CUDA", "Kernel"
};

struct TableOptions {
  bool by_shape = false;
  bool stats = false;  // fills `spread`
};

ProfilerTable profiler_table(const trace::Trace& trace, const TableOptions& options = {});

// Sorts rows, the largest first, by PyTorch's name of a column (`self_cpu_time_total`, ...); equal
// ones keep their order. Throws `Error` that lists the names where it knows no such column.
void sort_rows(ProfilerTable& table, std::string_view column);

}  // namespace epi::analysis
