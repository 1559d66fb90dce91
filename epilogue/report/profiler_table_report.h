// SPDX-License-Identifier: Apache-2.0
// The profiler's table as text, exactly as PyTorch prints it, as Markdown and as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "epilogue/analysis/pytorch/profiler_table.h"

namespace epi {
class JsonWriter;
}

namespace epi::report {

struct TableStyle {
  std::optional<size_t> limit{};  // maximum number of rows
  bool shapes = false;            // the column of input shapes
  bool stats = false;             // min, median and p90 of a call
};

std::string table_text(const analysis::ProfilerTable& table, const TableStyle& style);
std::string table_markdown(const analysis::ProfilerTable& table, const TableStyle& style);
// Writes the members `rows`, `self_cpu_total_us` and `self_device_total_us` of an open object.
void table_json(JsonWriter& json, const analysis::ProfilerTable& table, const TableStyle& style);

}  // namespace epi::report
