// SPDX-License-Identifier: Apache-2.0
// The SQL tables, as rows and columns over a trace.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct SqlColumn {
  std::string name;
  std::string type;  // INTEGER, REAL, TEXT, or empty for any
  // Passes a row's value to SQLite. Text must live as long as the table.
  std::function<void(sqlite3_context*, size_t row)> emit;
};

struct SqlTable {
  std::string name;
  std::function<size_t()> rows;
  std::vector<SqlColumn> columns;
  // The first column, if it is ascending: rows are then found by binary search instead of a scan.
  std::function<int64_t(size_t row)> first_key;
};

// The trace must outlive them.
std::vector<SqlTable> sql_tables(const trace::Trace& trace);

}  // namespace epi::analysis
