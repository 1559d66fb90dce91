// SPDX-License-Identifier: Apache-2.0
// SQL over a trace: SQLite virtual tables that read the trace's columns without copying. Tables:
// events, ops, kernels, launches, steps, annotations, args, frames. See docs/query.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/base/result.h"

namespace epi::analysis {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;

// What a column declares. Every column may also contain nulls.
enum class SqlType : uint8_t { kInteger, kText, kAny };

struct SqlResult {
  std::vector<std::string> columns;
  std::vector<SqlType> types;  // of columns of a table; kAny for expressions
  std::vector<std::vector<SqlValue>> rows;
  bool is_cut = false;  // a limit was reached: more rows would follow
};

// The longest time limit of a query.
inline constexpr int64_t kMaxTimeoutS = 1'000'000;

// A query can produce any amount of data from a small trace, and can run forever.
struct SqlLimits {
  size_t max_rows = 1'000'000;
  size_t max_bytes = size_t{1} << 30;  // of the values in the rows
  std::optional<int64_t> timeout_s;    // at most kMaxTimeoutS
  // Called several thousand times per second. The query fails if it returns true.
  std::function<bool()> is_interrupted;
};

class SqlDatabase {
 public:
  // The index must outlive it.
  explicit SqlDatabase(const TraceIndex& index);
  SqlDatabase(const SqlDatabase&) = delete;
  SqlDatabase& operator=(const SqlDatabase&) = delete;
  ~SqlDatabase();

  // Runs one statement that only reads: SELECT, WITH, EXPLAIN and the PRAGMAs that describe tables.
  // A failure carries SQLite's message, or names what is not allowed.
  Result<SqlResult> query(const std::string& sql, const SqlLimits& limits = {});
  // Writes all tables to a database file. The file is complete or does not appear at all.
  Result<void> write_file(const std::filesystem::path& path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epi::analysis
