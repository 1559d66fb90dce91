// SPDX-License-Identifier: Apache-2.0
// The SQL tables, as rows and columns over a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/sql/sql.h"

namespace epi::analysis {

// A view lives as long as the table.
using SqlCell = std::variant<std::monostate, int64_t, double, std::string_view, std::string>;

struct SqlColumn {
  std::string name;
  SqlType type = SqlType::kAny;
  std::function<SqlCell(size_t row)> cell;
};

struct SqlTable {
  std::string name;
  std::function<size_t()> rows;
  std::vector<SqlColumn> columns;
  // The first column, if it is ascending: rows are then found by binary search instead of a scan.
  std::function<int64_t(size_t row)> first_key;
  std::shared_ptr<const void> owner = nullptr;  // of what the columns read
};

// The index must outlive them.
std::vector<SqlTable> sql_tables(const TraceIndex& index);
// One of them, without the cost of the others. None if there is no table of this name.
std::optional<SqlTable> sql_table(const TraceIndex& index, std::string_view name);
std::vector<std::string_view> sql_table_names();

}  // namespace epi::analysis
