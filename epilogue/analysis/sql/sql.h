// SPDX-License-Identifier: Apache-2.0
// SQL over a trace: SQLite virtual tables that read the trace's columns without copying. Tables:
// events, ops, kernels, launches, steps, annotations, args, frames. See docs/query.md.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;

struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
};

class SqlDatabase {
 public:
  // The trace must outlive it.
  explicit SqlDatabase(const trace::Trace& trace);
  SqlDatabase(const SqlDatabase&) = delete;
  SqlDatabase& operator=(const SqlDatabase&) = delete;
  ~SqlDatabase();

  // Runs one statement. A failure carries SQLite's message.
  Result<SqlResult> query(const std::string& sql);
  // Writes all tables to a database file. The file is complete or does not appear at all.
  Result<void> write_file(const std::filesystem::path& path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epi::analysis
