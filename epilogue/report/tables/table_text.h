// SPDX-License-Identifier: Apache-2.0
// The profiler's table as text, exactly as PyTorch prints it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "epilogue/analysis/pytorch/profiler_table.h"

namespace epi::report {

struct TableStyle {
  std::optional<size_t> limit{};  // maximum number of rows
  bool shapes = false;            // the column of input shapes
  bool stats = false;             // min, median and p90 of a call
};

std::string table_text(const analysis::ProfilerTable& table, const TableStyle& style);

}  // namespace epi::report
