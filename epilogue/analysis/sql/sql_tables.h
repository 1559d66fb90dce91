// SPDX-License-Identifier: Apache-2.0
// The tables that SQL sees, as rows and columns over a trace.
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
  std::string type;  // INTEGER, REAL or TEXT
  // Gives the value of a row to SQLite. Texts must live as long as the table.
  std::function<void(sqlite3_context*, size_t row)> give;
};

struct SqlTable {
  std::string name;
  std::function<size_t()> rows;
  std::vector<SqlColumn> columns;
  // The first column of a row: ascending, so that one value is found without a scan.
  std::function<int64_t(size_t row)> first_key;
};

// The trace must outlive them.
std::vector<SqlTable> sql_tables(const trace::Trace& trace);

}  // namespace epi::analysis
