// SPDX-License-Identifier: Apache-2.0
// The profiler's table as text, exactly as PyTorch prints it, as Markdown and as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/tables/table_text.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

struct TableResult {
  analysis::ProfilerTable table;
  TableStyle shown;

  std::vector<struct TableItem> rows() const;
};
// The width of the style does not apply: PyTorch's columns are as wide as the longest name.
std::string text_of(const TableResult& result, const Style& style);

struct TableItem {
  const analysis::TableRow& row;
  const TableResult& result;

  // Absent if the trace does not record memory.
  std::optional<int64_t> memory(int64_t bytes) const {
    return result.table.has_memory ? std::optional(bytes) : std::nullopt;
  }
  // Absent unless statistics are asked for.
  std::optional<double> spread(double analysis::Spread::* member) const {
    return result.shown.stats ? std::optional(row.spread.*member) : std::nullopt;
  }
};

template <>
struct Description<TableItem> {
  using Item = TableItem;
  using Spread = analysis::Spread;
  static constexpr const char* kName = "row";
  static constexpr std::tuple kMembers{
      Member{"name", "Name", Unit::kNone, "operator, annotation, call or GPU event",
             [](const Item& one) -> auto& { return one.row.name; }},
      Member{"lane", "lane", Unit::kNone, "cpu, or device for a GPU event",
             [](const Item& one) { return one.row.device ? "device" : "cpu"; }},
      Member{"annotation", "annotation", Unit::kNone, "an annotation: its time is not self time",
             [](const Item& one) { return one.row.annotation; }},
      Member{"calls", "# of Calls", Unit::kCount, "number of calls",
             [](const Item& one) { return one.row.calls; }},
      Member{"self_cpu_us", "Self CPU", Unit::kMicroseconds, "CPU time without the events in it",
             [](const Item& one) { return one.row.self_cpu_us; }},
      Member{"cpu_total_us", "CPU total", Unit::kMicroseconds, "CPU time",
             [](const Item& one) { return one.row.cpu_total_us; }},
      Member{"self_device_us", "Self CUDA", Unit::kMicroseconds,
             "time of the GPU events that it launched itself",
             [](const Item& one) { return one.row.self_device_us; }},
      Member{"device_total_us", "CUDA total", Unit::kMicroseconds, "the same with the events in it",
             [](const Item& one) { return one.row.device_total_us; }},
      Member{"cpu_memory_bytes", "CPU Mem", Unit::kBytes, "allocated minus freed",
             [](const Item& one) { return one.memory(one.row.memory.cpu_bytes); }},
      Member{"self_cpu_memory_bytes", "Self CPU Mem", Unit::kBytes,
             "the same without the events in it",
             [](const Item& one) { return one.memory(one.row.self_memory.cpu_bytes); }},
      Member{"device_memory_bytes", "CUDA Mem", Unit::kBytes, "allocated minus freed on the device",
             [](const Item& one) { return one.memory(one.row.memory.device_bytes); }},
      Member{"self_device_memory_bytes", "Self CUDA Mem", Unit::kBytes,
             "the same without the events in it",
             [](const Item& one) { return one.memory(one.row.self_memory.device_bytes); }},
      Member{"flops", "FLOPs", Unit::kFlops, "null if they are not recorded",
             [](const Item& one) { return if_known(one.row.flops); }},
      Member{"call_us_min", "min", Unit::kMicroseconds, "shortest call; null without --stats",
             [](const Item& one) { return one.spread(&Spread::min_us); }},
      Member{"call_us_median", "median", Unit::kMicroseconds, "median call; null without --stats",
             [](const Item& one) { return one.spread(&Spread::median_us); }},
      Member{"call_us_p90", "p90", Unit::kMicroseconds,
             "exceeded by one call in ten; null without --stats",
             [](const Item& one) { return one.spread(&Spread::p90_us); }},
      Member{"input_shapes", "Input Shapes", Unit::kNone, "null without --by-shape",
             [](const Item& one) {
               return one.result.shown.shapes ? std::optional(one.row.shapes) : std::nullopt;
             }}};
};

template <>
struct Description<TableResult> {
  static constexpr const char* kName = "table";
  static constexpr std::tuple kMembers{
      Member{"rows", "rows", Unit::kNone, "by name, sorted by a column", &TableResult::rows},
      Member{"self_cpu_total_us", "Self CPU time total", Unit::kMicroseconds,
             "sum of all rows, also of those not listed",
             [](const TableResult& one) { return one.table.self_cpu_total_us; }},
      Member{"self_device_total_us", "Self CUDA time total", Unit::kMicroseconds,
             "sum of all GPU events",
             [](const TableResult& one) { return one.table.self_device_total_us; }}};
};

}  // namespace epi::report
