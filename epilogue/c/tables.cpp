// SPDX-License-Identifier: Apache-2.0
// Tables and SQL results as Arrow streams.
#include <fmt/format.h>

#include <atomic>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/c/arrow_stream.h"
#include "epilogue/c/call_options.h"
#include "epilogue/c/guard.h"
#include "epilogue/c/open_trace.h"
#include "epilogue/sql/database.h"
#include "epilogue/sql/tables.h"

namespace epi::c {
namespace {

using Type = ColumnBuilder::Type;

// Builds the columns of all files of a trace. If there are several, two more columns identify the
// file.
class TableBuilder {
 public:
  explicit TableBuilder(bool has_several) : has_several_(has_several) {
    if (!has_several) return;
    columns_->emplace_back("file", Type::kInteger);
    columns_->emplace_back("rank", Type::kInteger);
  }

  // Adds a column for the first file. The other files have the same columns.
  void add_column(const std::string& name, Type type, bool is_first_file) {
    if (is_first_file) columns_->emplace_back(name, type);
  }
  void add_file_cells(size_t file, const verbs::TraceInput& input, size_t rows) {
    if (!has_several_) return;
    const auto rank = input.has_rank ? sql::Cell(input.rank) : sql::Cell();
    for (size_t row = 0; row < rows; ++row) {
      (*columns_)[0].add(static_cast<int64_t>(file));
      (*columns_)[1].add(rank);
    }
  }
  ColumnBuilder& column(size_t index) { return (*columns_)[index + (has_several_ ? 2 : 0)]; }

  void finish(ArrowArrayStream* stream) {
    for (ColumnBuilder& column : *columns_) column.finish();
    export_stream(std::move(columns_), stream);
  }

 private:
  bool has_several_;
  std::shared_ptr<Columns> columns_ = std::make_shared<Columns>();
};

Type arrow_type(sql::Type type) {
  switch (type) {
    case sql::Type::kInteger:
      return Type::kInteger;
    case sql::Type::kText:
      return Type::kText;
    case sql::Type::kAny:
      return Type::kNull;
  }
  return Type::kNull;
}

sql::Table find_table(const analysis::StepModels& models, const char* name) {
  auto table = sql::table(models, name == nullptr ? "" : name);
  if (table) return std::move(*table);
  throw Error(fmt::format("no table \"{}\": the tables are {}", name == nullptr ? "" : name,
                          join(sql::table_names(), ", ")));
}

void build_table(const verbs::OpenTraces& trace, const char* name, ArrowArrayStream* stream) {
  TableBuilder builder(trace.inputs.size() > 1);
  for (size_t file = 0; file < trace.inputs.size(); ++file) {
    const verbs::TraceInput& input = trace.inputs[file];
    const sql::Table table = find_table(input.models(), name);
    const size_t rows = table.rows();
    for (const sql::Column& column : table.columns) {
      builder.add_column(column.name, arrow_type(column.type), file == 0);
    }
    builder.add_file_cells(file, input, rows);
    parallel_for(std::ssize(table.columns), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        ColumnBuilder& column = builder.column(i);
        for (size_t row = 0; row < rows; ++row) column.add(table.columns[i].cell(row));
      }
    });
    refuse_changed(input);
  }
  builder.finish(stream);
}

struct QueryOptions {
  std::optional<int64_t> max_rows;
  std::optional<int64_t> timeout_s;
};

QueryOptions query_options(const char* text) {
  QueryOptions options;
  for (const GivenOption& given : parse_options(text)) {
    if (given.key != "max_rows" && given.key != "timeout") {
      throw Error(fmt::format("unknown option \"{}\": expected max_rows or timeout", given.key));
    }
    const int64_t number = positive_number(given);
    if (given.key == "timeout" && number > sql::kMaxTimeoutS) {
      throw Error(fmt::format("option \"timeout\": must be at most {}", sql::kMaxTimeoutS));
    }
    (given.key == "timeout" ? options.timeout_s : options.max_rows) = number;
  }
  return options;
}

sql::Cell cell_of(const sql::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return std::string_view(*text);
  return {};
}

// Adds the result for one file. Returns a note if a limit has cut it.
std::string add_result(const verbs::OpenTraces& trace, size_t file, const sql::QueryResult& result,
                       TableBuilder& builder) {
  for (size_t i = 0; i < result.columns.size(); ++i) {
    builder.add_column(result.columns[i], arrow_type(result.types[i]), file == 0);
  }
  builder.add_file_cells(file, trace.inputs[file], result.rows.size());
  for (const auto& row : result.rows) {
    for (size_t i = 0; i < row.size(); ++i) builder.column(i).add(cell_of(row[i]));
  }
  if (!result.is_cut) return "";
  return fmt::format("{}: the result is cut after {} rows: add LIMIT, or raise max_rows",
                     trace.inputs[file].file, result.rows.size());
}

// Adds the results for all files. Returns the notes.
std::string build_query(const verbs::OpenTraces& trace, const std::string& sql,
                        const QueryOptions& options, const std::atomic<bool>& is_cancelled,
                        TableBuilder& builder) {
  sql::Limits limits;
  if (options.max_rows) limits.max_rows = static_cast<size_t>(*options.max_rows);
  limits.timeout_s = options.timeout_s;
  limits.is_interrupted = [&] { return is_cancelled.load(); };
  std::string notes;
  for (size_t file = 0; file < trace.inputs.size(); ++file) {
    auto result = sql::Database(trace.inputs[file].models()).query(sql, limits);
    if (!result) throw Error(result.error().message);
    const std::string note = add_result(trace, file, *result, builder);
    if (!note.empty()) notes += (notes.empty() ? "" : "\n") + note;
    refuse_changed(trace.inputs[file]);
  }
  return notes;
}

}  // namespace
}  // namespace epi::c

using namespace epi::c;

epi_status epi_table(const epi_trace* trace, const char* table, ArrowArrayStream* stream,
                     char** message) {
  if (stream != nullptr) *stream = {};
  return guarded(message, [&] {
    if (stream == nullptr) throw epi::Error("the result pointer is null");
    build_table(*open_traces_of(trace), table, stream);
    return EPI_OK;
  });
}

epi_status epi_query(const epi_trace* trace, const char* sql, const char* options,
                     epi_progress progress, void* user, ArrowArrayStream* stream, char** message) {
  if (stream != nullptr) *stream = {};
  return guarded(message, [&] {
    if (stream == nullptr) throw epi::Error("the result pointer is null");
    if (sql == nullptr) throw epi::Error("the SQL statement is null");
    const auto content = open_traces_of(trace);
    const QueryOptions limits = query_options(options);
    std::atomic<bool> is_cancelled = false;
    std::string notes;
    TableBuilder result(content->inputs.size() > 1);
    run_with_progress(
        progress, user, [] { return 0.0; }, [&] { is_cancelled = true; },
        [&] { notes = build_query(*content, sql, limits, is_cancelled, result); });
    result.finish(stream);
    if (!notes.empty()) set_message(message, notes);
    return EPI_OK;
  });
}
