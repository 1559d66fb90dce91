// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/sql/sql.h"

#include <fmt/format.h>

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>

#include "epilogue/analysis/sql/sql_tables.h"
#include "epilogue/base/join.h"

namespace epi::analysis {
namespace {

// Passed from xBestIndex to xFilter as idxNum.
enum Plan : int { kScan = 0, kFirstKey = 1 };

// Row estimate for a table whose rows are built on first use.
constexpr size_t kManyRows = 1'000'000;

struct Table : sqlite3_vtab {
  const SqlTable* rows = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  size_t row = 0;
  size_t end = 0;
};

const SqlTable& rows_of(sqlite3_vtab_cursor* cursor) {
  return *static_cast<Table*>(cursor->pVtab)->rows;
}

int connect(sqlite3* db, void* tables, int, const char* const* argv, sqlite3_vtab** out, char**) {
  for (const SqlTable& rows : *static_cast<const std::vector<SqlTable>*>(tables)) {
    if (rows.name != argv[0]) continue;
    std::vector<std::string> columns;
    for (const SqlColumn& column : rows.columns) {
      columns.push_back(fmt::format("\"{}\" {}", column.name, column.type));
    }
    const std::string sql = fmt::format("CREATE TABLE x({})", join(columns, ", "));
    auto* table = new Table{};
    table->rows = &rows;
    *out = table;
    return ::sqlite3_declare_vtab(db, sql.c_str());
  }
  return SQLITE_ERROR;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

// An equality on the first column becomes a lookup. Everything else is a scan.
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  const SqlTable& rows = *static_cast<Table*>(table)->rows;
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
  *out = new Cursor{};
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// The first row whose key is not less than `key`.
size_t lower_row(const SqlTable& rows, int64_t key) {
  size_t low = 0;
  size_t high = rows.rows();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    rows.first_key(middle) < key ? low = middle + 1 : high = middle;
  }
  return low;
}

int filter(sqlite3_vtab_cursor* base, int plan, const char*, int argc, sqlite3_value** argv) {
  auto* cursor = static_cast<Cursor*>(base);
  const SqlTable& rows = rows_of(base);
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

int next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->row;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* base) {
  const auto* cursor = static_cast<Cursor*>(base);
  return cursor->row >= cursor->end ? 1 : 0;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int index) {
  rows_of(cursor).columns[static_cast<size_t>(index)].emit(to, static_cast<Cursor*>(cursor)->row);
  return SQLITE_OK;
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

SqlValue value_of(sqlite3_stmt* statement, int index) {
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

}  // namespace

struct SqlDatabase::State {
  sqlite3* db = nullptr;
  std::vector<SqlTable> tables;
  sqlite3_module module = make_module();

  ~State() { ::sqlite3_close(db); }
};

SqlDatabase::SqlDatabase(const trace::Trace& trace) : state_(std::make_unique<State>()) {
  if (::sqlite3_open(":memory:", &state_->db) != SQLITE_OK) throw std::bad_alloc();
  state_->tables = sql_tables(trace);
  for (const SqlTable& table : state_->tables) {
    ::sqlite3_create_module(state_->db, table.name.c_str(), &state_->module, &state_->tables);
  }
}

SqlDatabase::~SqlDatabase() = default;

Result<SqlResult> SqlDatabase::query(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const auto fault = [&] { return failure("SQL: {}", ::sqlite3_errmsg(state_->db)); };
  if (::sqlite3_prepare_v2(state_->db, sql.c_str(), -1, &raw, &rest) != SQLITE_OK) return fault();
  const std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement(raw);
  if (statement == nullptr) return failure("SQL: the query has no statement");
  sqlite3_stmt* second = nullptr;
  const int more = ::sqlite3_prepare_v2(state_->db, rest, -1, &second, nullptr);
  ::sqlite3_finalize(second);
  if (more != SQLITE_OK || second != nullptr) {
    return failure("SQL: one statement at a time; this follows the first: {}", rest);
  }
  SqlResult result;
  const int columns = ::sqlite3_column_count(raw);
  for (int i = 0; i < columns; ++i) result.columns.emplace_back(::sqlite3_column_name(raw, i));
  int state = ::sqlite3_step(raw);
  for (; state == SQLITE_ROW; state = ::sqlite3_step(raw)) {
    std::vector<SqlValue> row;
    for (int i = 0; i < columns; ++i) row.push_back(value_of(raw, i));
    result.rows.push_back(std::move(row));
  }
  if (state != SQLITE_DONE) return fault();
  return result;
}

Result<void> SqlDatabase::write_file(const std::filesystem::path& given) {
  // SQLite writes regular files only. A link is followed, not replaced.
  std::error_code unknown;
  const auto type = std::filesystem::status(given, unknown).type();
  using std::filesystem::file_type;
  if (type != file_type::regular && type != file_type::not_found) {
    return failure("{}: is not a regular file", given.string());
  }
  const std::filesystem::path path = std::filesystem::is_symlink(given, unknown)
                                         ? std::filesystem::weakly_canonical(given, unknown)
                                         : given;
  const auto temporary = path.parent_path() / fmt::format(".epilogue-{}.sqlite.tmp", ::getpid());
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  const auto run = [&](const std::string& sql) -> Result<void> {
    auto done = query(sql);
    if (!done) return failure("{}: {}", path.string(), done.error().message);
    return {};
  };
  std::string quoted;
  for (const char c : temporary.string()) quoted.append(c == '\'' ? 2 : 1, c);
  auto done = run(fmt::format("ATTACH DATABASE '{}' AS file", quoted));
  EPI_TRY(done);
  for (const SqlTable& table : state_->tables) {
    if (done)
      done = run(fmt::format("CREATE TABLE file.{0} AS SELECT * FROM main.{0}", table.name));
  }
  const auto detached = run("DETACH DATABASE file");
  if (done && !detached) done = detached;
  std::error_code failed;
  if (done) std::filesystem::rename(temporary, path, failed);
  if (done && !failed) return {};
  std::filesystem::remove(temporary, ignored);
  EPI_TRY(done);
  return failure("{}: cannot finish writing: {}", path.string(), failed.message());
}

}  // namespace epi::analysis
