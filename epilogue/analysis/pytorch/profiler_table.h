// SPDX-License-Identifier: Apache-2.0
// The table of PyTorch's profiler: sums over events of one name. It follows the rules of PyTorch's
// `key_averages().table()`, so that the numbers can be compared:
//   - host events (ops, annotations, runtime calls) and device events have separate rows;
//   - self time is a host event's duration minus that of its children on the same thread;
//   - an op's self device time covers the device events with its external id, its total also those
//     of the ops below it;
//   - an event whose only child has the same name is merged with it;
//   - memory is allocated minus freed bytes during an event, on any thread;
//   - FLOPs cover a few operators and follow from their input sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/pytorch/pytorch_memory.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// Statistics over the calls of a row: device totals for device rows, CPU totals for host rows.
struct Spread {
  double min_us = 0;
  double median_us = 0;
  double p90_us = 0;
};

struct TableRow {
  std::string name;      // "ProfilerStep*" for all steps
  std::string shapes{};  // input shapes as recorded; only with `by_shape`
  bool device = false;   // a device event, not a host event
  bool annotation = false;
  int64_t calls = 0;
  double self_cpu_us = 0;
  double cpu_total_us = 0;
  double self_device_us = 0;
  double device_total_us = 0;
  MemoryUse memory{};  // if recorded with profile_memory
  MemoryUse self_memory{};
  int64_t flops = 0;  // if recorded with with_flops; 0: not counted
  Spread spread{};
};

struct ProfilerTable {
  std::vector<TableRow> rows;  // in order of first occurrence
  double self_cpu_total_us = 0;
  double self_device_total_us = 0;  // kernels, copies and memsets, without annotations
  bool has_device = false;          // some row has device time
  bool has_memory = false;          // the trace was recorded with profile_memory
  bool has_device_memory = false;   // some row allocates device memory
  bool has_flops = false;           // some row has FLOPs
  std::string device_name;          // heading of the device columns: "CUDA", "Kernel"
};

struct TableOptions {
  bool by_shape = false;
  bool stats = false;  // fill in `spread`
};

ProfilerTable profiler_table(const trace::Trace& trace, const TableOptions& options = {});

// Sorts rows in descending order by one of PyTorch's column names (`self_cpu_time_total`, ...).
// Stable. Throws an `Error` that lists the valid names if the column is unknown.
void sort_rows(ProfilerTable& table, std::string_view column);

}  // namespace epi::analysis
