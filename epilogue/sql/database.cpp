// SPDX-License-Identifier: Apache-2.0
#include "epilogue/sql/database.h"

#include <fmt/format.h>

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "epilogue/base/join.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/output_file.h"
#include "epilogue/sql/read_only.h"
#include "epilogue/sql/tables.h"

namespace epi::sql {
namespace {

// Passed from xBestIndex to xFilter as idxNum.
enum Plan : int { kScan = 0, kFirstKey = 1 };

// Row estimate for a table whose rows are built on first use.
constexpr size_t kManyRows = 1'000'000;

struct VirtualTable : sqlite3_vtab {
  const Table* rows = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  size_t row = 0;
  size_t end = 0;
};

const Table& rows_of(sqlite3_vtab_cursor* cursor) {
  return *static_cast<VirtualTable*>(cursor->pVtab)->rows;
}

// Exceptions must not pass through SQLite, which is written in C.
template <typename Body>
int without_exceptions(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

const char* declared_type(Type type) {
  switch (type) {
    case Type::kInteger:
      return "INTEGER";
    case Type::kText:
      return "TEXT";
    case Type::kAny:
      return "";
  }
  return "";
}

// The type of a column of a result, by the declaration of the table that it comes from.
Type type_of_column(sqlite3_stmt* statement, int column) {
  const char* declared = ::sqlite3_column_decltype(statement, column);
  if (declared == nullptr) return Type::kAny;
  for (const Type type : {Type::kInteger, Type::kText}) {
    if (std::strcmp(declared, declared_type(type)) == 0) return type;
  }
  return Type::kAny;
}

// Passes a cell to SQLite. Views stay valid, other texts are copied.
struct CellResult {
  sqlite3_context* to;

  void operator()(std::monostate) const { ::sqlite3_result_null(to); }
  void operator()(int64_t number) const { ::sqlite3_result_int64(to, number); }
  void operator()(double real) const { ::sqlite3_result_double(to, real); }
  void operator()(std::string_view text) const {
    ::sqlite3_result_text64(to, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void operator()(const std::string& text) const {
    ::sqlite3_result_text64(to, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
};

int connect_table(sqlite3* db, void* tables, const char* const* argv, sqlite3_vtab** out) {
  for (const Table& rows : *static_cast<const std::vector<Table>*>(tables)) {
    if (rows.name != argv[0]) continue;
    std::vector<std::string> columns;
    for (const Column& column : rows.columns) {
      columns.push_back(fmt::format("\"{}\" {}", column.name, declared_type(column.type)));
    }
    const std::string sql = fmt::format("CREATE TABLE x({})", join(columns, ", "));
    if (const int code = ::sqlite3_declare_vtab(db, sql.c_str()); code != SQLITE_OK) return code;
    auto* table = new VirtualTable{};
    table->rows = &rows;
    *out = table;  // SQLite owns it once this function succeeds
    return SQLITE_OK;
  }
  return SQLITE_ERROR;
}

int connect(sqlite3* db, void* tables, int, const char* const* argv, sqlite3_vtab** out, char**) {
  return without_exceptions([&] { return connect_table(db, tables, argv, out); });
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

// An equality on the first column becomes a lookup. Everything else is a scan.
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  const Table& rows = *static_cast<VirtualTable*>(table)->rows;
  info->estimatedCost = static_cast<double>(rows.name == "args" ? kManyRows : rows.rows());
  if (!rows.first_key) return SQLITE_OK;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.usable == 0 || constraint.iColumn != 0 ||
        constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) {
      continue;
    }
    info->aConstraintUsage[i].argvIndex = 1;
    info->idxNum = kFirstKey;
    info->estimatedCost = 20;
    info->estimatedRows = 1;
    return SQLITE_OK;
  }
  return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  return without_exceptions([&] {
    *out = new Cursor{};
    return SQLITE_OK;
  });
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// The first row whose key is not less than `key`.
size_t lower_row(const Table& rows, int64_t key) {
  size_t low = 0;
  size_t high = rows.rows();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    rows.first_key(middle) < key ? low = middle + 1 : high = middle;
  }
  return low;
}

int filter_rows(sqlite3_vtab_cursor* base, int plan, int argc, sqlite3_value** argv) {
  auto* cursor = static_cast<Cursor*>(base);
  const Table& rows = rows_of(base);
  cursor->row = 0;
  cursor->end = rows.rows();
  if (plan != kFirstKey || argc < 1) return SQLITE_OK;
  if (::sqlite3_value_type(argv[0]) != SQLITE_INTEGER) {
    cursor->end = ::sqlite3_value_type(argv[0]) == SQLITE_NULL ? 0 : rows.rows();
    return SQLITE_OK;
  }
  const int64_t key = ::sqlite3_value_int64(argv[0]);
  cursor->row = lower_row(rows, key);
  cursor->end = key == INT64_MAX ? rows.rows() : lower_row(rows, key + 1);
  return SQLITE_OK;
}

// Some tables are built when their rows are first counted.
int filter(sqlite3_vtab_cursor* base, int plan, const char*, int argc, sqlite3_value** argv) {
  return without_exceptions([&] { return filter_rows(base, plan, argc, argv); });
}

int next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->row;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* base) {
  const auto* cursor = static_cast<Cursor*>(base);
  return cursor->row >= cursor->end ? 1 : 0;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int index) {
  return without_exceptions([&] {
    const Column& values = rows_of(cursor).columns[static_cast<size_t>(index)];
    std::visit(CellResult{to}, values.cell(static_cast<Cursor*>(cursor)->row));
    return SQLITE_OK;
  });
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row);
  return SQLITE_OK;
}

// No xCreate: each module is an eponymous virtual table, which exists without CREATE.
sqlite3_module make_module() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}

Value value_of(sqlite3_stmt* statement, int index) {
  switch (::sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return ::sqlite3_column_int64(statement, index);
    case SQLITE_FLOAT:
      return ::sqlite3_column_double(statement, index);
    case SQLITE_NULL:
      return std::monostate{};
    default:
      return std::string(static_cast<const char*>(::sqlite3_column_blob(statement, index)),
                         static_cast<size_t>(::sqlite3_column_bytes(statement, index)));
  }
}

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
};

size_t bytes_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return sizeof value + (text == nullptr ? 0 : text->size());
}

// Stops a statement that runs for too long. Exists while the statement runs.
class StopCheck {
 public:
  StopCheck(sqlite3* db, const Limits& limits) : db_(db), limits_(limits) {
    constexpr int kInstructions = 10'000;  // of SQLite's virtual machine, well below 1 ms
    if (!limits.timeout_s && !limits.is_interrupted) return;
    ::sqlite3_progress_handler(db, kInstructions, check, this);
  }
  StopCheck(const StopCheck&) = delete;
  StopCheck& operator=(const StopCheck&) = delete;
  ~StopCheck() { ::sqlite3_progress_handler(db_, 0, nullptr, nullptr); }
  const std::string& reason() const { return reason_; }

 private:
  using Clock = std::chrono::steady_clock;

  static int check(void* self) {
    return without_exceptions([&] { return static_cast<StopCheck*>(self)->stops() ? 1 : 0; });
  }
  bool stops() {
    if (limits_.is_interrupted && limits_.is_interrupted()) {
      reason_ = "interrupted";
    } else if (limits_.timeout_s &&
               Clock::now() - start_ >= std::chrono::seconds(*limits_.timeout_s)) {
      reason_ = fmt::format("stopped after the timeout of {} s", *limits_.timeout_s);
    }
    return !reason_.empty();
  }

  sqlite3* db_;
  const Limits& limits_;
  Clock::time_point start_ = Clock::now();
  std::string reason_;
};

}  // namespace

struct Database::State {
  sqlite3* db = nullptr;
  std::vector<Table> tables;
  sqlite3_module module = make_module();

  ~State() { ::sqlite3_close(db); }

  Result<QueryResult> run(const std::string& sql, const Limits& limits) const;
};

Database::Database(const analysis::StepModels& models) : state_(std::make_unique<State>()) {
  if (::sqlite3_open(":memory:", &state_->db) != SQLITE_OK) throw std::bad_alloc();
  // The longest value that a query may build, such as by `zeroblob`.
  constexpr int kMaxValueBytes = 256 << 20;
  ::sqlite3_limit(state_->db, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  state_->tables = tables(models);
  for (const Table& table : state_->tables) {
    ::sqlite3_create_module(state_->db, table.name.c_str(), &state_->module, &state_->tables);
  }
}

Database::~Database() = default;

Result<QueryResult> Database::query(const std::string& sql, const Limits& limits) {
  const ReadOnly read_only(state_->db);
  auto result = state_->run(sql, limits);
  if (!result && !read_only.denied().empty()) {
    return failure("SQL: {} is not allowed: a query only reads the trace", read_only.denied());
  }
  return result;
}

Result<QueryResult> Database::State::run(const std::string& sql, const Limits& limits) const {
  const StopCheck stop(db, limits);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const auto fault = [&] {
    return failure("SQL: {}", stop.reason().empty() ? ::sqlite3_errmsg(db) : stop.reason());
  };
  if (::sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, &rest) != SQLITE_OK) return fault();
  const std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement(raw);
  if (statement == nullptr) return failure("SQL: the query has no statement");
  sqlite3_stmt* second = nullptr;
  const int more = ::sqlite3_prepare_v2(db, rest, -1, &second, nullptr);
  ::sqlite3_finalize(second);
  if (more != SQLITE_OK || second != nullptr) {
    return failure("SQL: one statement at a time; this follows the first: {}", rest);
  }
  QueryResult result;
  const int columns = ::sqlite3_column_count(raw);
  for (int i = 0; i < columns; ++i) {
    result.columns.emplace_back(::sqlite3_column_name(raw, i));
    result.types.push_back(type_of_column(raw, i));
  }
  size_t bytes = 0;
  int state = ::sqlite3_step(raw);
  for (; state == SQLITE_ROW; state = ::sqlite3_step(raw)) {
    result.is_cut = result.rows.size() == limits.max_rows;
    std::vector<Value> row;
    for (int i = 0; i < columns && !result.is_cut; ++i) {
      row.push_back(value_of(raw, i));
      bytes += bytes_of(row.back());
      result.is_cut = bytes > limits.max_bytes;
    }
    if (result.is_cut) return result;
    result.rows.push_back(std::move(row));
  }
  if (state != SQLITE_DONE) return fault();
  return result;
}

Result<void> Database::write_file(const std::filesystem::path& path) {
  auto file = OutputFile::create(path);
  EPI_TRY(file);
  if (file->temporary_path().empty()) {
    return failure("{}: not a regular file, which a database needs", path.string());
  }
  const auto run = [&](const std::string& sql) -> Result<void> {
    auto done = state_->run(sql, {});
    if (!done) return failure("{}: {}", path.string(), done.error().message);
    return {};
  };
  std::string quoted;
  for (const char c : file->temporary_path().string()) quoted.append(c == '\'' ? 2 : 1, c);
  EPI_TRY(run(fmt::format("ATTACH DATABASE '{}' AS file", quoted)));
  // `commit` syncs the file, and without it nothing needs to be rolled back.
  auto done = run("PRAGMA file.journal_mode = OFF");
  if (done) done = run("PRAGMA file.synchronous = OFF");
  for (const Table& table : state_->tables) {
    if (!done) break;
    done = run(fmt::format("CREATE TABLE file.{0} AS SELECT * FROM main.{0}", table.name));
  }
  const auto detached = run("DETACH DATABASE file");
  EPI_TRY(done);
  EPI_TRY(detached);
  if (const auto changed = changed_mapped_file(); !changed.empty()) {
    return failure("{}: changed while it was read", changed);
  }
  return file->commit();
}

}  // namespace epi::sql
