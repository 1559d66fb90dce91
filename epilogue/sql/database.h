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

#include "epilogue/analysis/step/step_models.h"
#include "epilogue/base/result.h"

namespace epi::sql {

using Value = std::variant<std::monostate, int64_t, double, std::string>;

// What a column declares. Every column may also contain nulls.
enum class Type : uint8_t { kInteger, kText, kAny };

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<Type> types;  // of columns of a table; kAny for expressions
  std::vector<std::vector<Value>> rows;
  bool is_cut = false;  // a limit was reached: more rows would follow
};

// The longest time limit of a query.
inline constexpr int64_t kMaxTimeoutS = 1'000'000;

// A query can produce any amount of data from a small trace, and can run forever.
struct Limits {
  size_t max_rows = 1'000'000;
  size_t max_bytes = size_t{1} << 30;  // of the values in the rows
  std::optional<int64_t> timeout_s;    // at most kMaxTimeoutS
  // Called several thousand times per second. The query fails if it returns true.
  std::function<bool()> is_interrupted;
};

class Database {
 public:
  // The models must outlive it.
  explicit Database(const analysis::StepModels& models);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Runs one statement that only reads: SELECT, WITH, EXPLAIN and the PRAGMAs that describe tables.
  // A failure carries SQLite's message, or names what is not allowed.
  Result<QueryResult> query(const std::string& sql, const Limits& limits = {});
  // Writes all tables to a database file. The file is complete or does not appear at all.
  Result<void> write_file(const std::filesystem::path& path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epi::sql
