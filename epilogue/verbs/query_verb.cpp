// SPDX-License-Identifier: Apache-2.0
// `epilogue query FILE SQL`: SQL queries on a trace, with SQLite.
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/description/described_csv.h"
#include "epilogue/report/text/table.h"
#include "epilogue/sql/database.h"
#include "epilogue/verbs/output_rules.h"
#include "epilogue/verbs/parquet_export.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct QueryOptions {
  TraceSource file;
  std::vector<TraceSource> also;
  std::string sql;
  std::string export_path;
  std::string format = "sqlite";
  std::optional<int64_t> timeout_s;
  std::optional<int64_t> max_rows;
};

std::string cell_text(const sql::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "";
}

void print_csv(Call& call, const sql::QueryResult& result) {
  const auto print_line = [&](const auto& cells, auto&& text) {
    for (size_t i = 0; i < cells.size(); ++i) {
      call.print("{}{}", i == 0 ? "" : ",", report::csv_cell(text(cells[i])));
    }
    call.print("\n");
  };
  print_line(result.columns, [](const std::string& name) { return name; });
  for (const auto& row : result.rows) print_line(row, cell_text);
}

void rows_json(JsonWriter& json, const sql::QueryResult& result) {
  json.begin_array();
  for (const auto& row : result.rows) {
    json.begin_object();
    for (size_t i = 0; i < row.size(); ++i) {
      json.key(result.columns[i]);
      if (const auto* number = std::get_if<int64_t>(&row[i])) {
        json.integer(*number);
      } else if (const auto* real = std::get_if<double>(&row[i])) {
        json.real(*real);
      } else if (const auto* text = std::get_if<std::string>(&row[i])) {
        json.string(*text);
      } else {
        json.null();
      }
    }
    json.end_object();
  }
  json.end_array();
}

void print_table(Call& call, const sql::QueryResult& result) {
  std::vector<report::Table::Column> columns;
  for (size_t c = 0; c < result.columns.size(); ++c) {
    const bool number =
        !result.rows.empty() && !std::holds_alternative<std::string>(result.rows[0][c]);
    columns.push_back({visible_text(result.columns[c], LineBreaks::kReplace),
                       number ? report::Align::kRight : report::Align::kLeft});
  }
  report::Table table(columns);
  for (const auto& row : result.rows) {
    std::vector<std::string> cells;
    for (const auto& value : row) cells.push_back(cell_text(value));
    table.add_row(std::move(cells));
  }
  call.write(call.style().markdown ? table.markdown() : table.text());
}

void export_parquet(Call& call, const QueryOptions& options,
                    const std::vector<TraceInput>& inputs) {
  const auto replaced = write_parquet(inputs, options.export_path);
  throw_if_failed(replaced);
  if (*replaced > 0) {
    call.note("{}: {} bytes of text were not UTF-8 and are replaced", options.export_path,
              *replaced);
  }
}

void export_tables(Call& call, const QueryOptions& options, const std::vector<TraceInput>& inputs) {
  if (options.format == "parquet") return export_parquet(call, options, inputs);
  if (inputs.size() != 1) {
    fail("query", "--export {}: expected one trace, got {}", options.export_path, inputs.size());
  }
  const auto written = sql::Database(inputs[0].models()).write_file(options.export_path);
  throw_if_failed(written);
}

// Prints an array for one trace, and the usual object with `files` for several.
void print_json_results(Call& call, const std::vector<TraceInput>& inputs,
                        const std::vector<sql::QueryResult>& results) {
  if (inputs.size() == 1) {
    JsonWriter json;
    rows_json(json, results[0]);
    call.print("{}\n", json.text());
    return;
  }
  ResultsJson json(call, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    json.begin(inputs[i]);
    json.writer().key("rows");
    rows_json(json.writer(), results[i]);
    json.end(inputs[i]);
  }
  json.print();
}

sql::Limits limits_of(const QueryOptions& options, const StatementGuard& guard) {
  sql::Limits limits;
  if (options.max_rows) limits.max_rows = static_cast<size_t>(*options.max_rows);
  limits.timeout_s = options.timeout_s;
  limits.is_interrupted = [&guard] { return guard.is_interrupted(); };
  return limits;
}

std::vector<sql::QueryResult> run_statement(Call& call, const QueryOptions& options,
                                            const std::vector<TraceInput>& inputs) {
  std::vector<sql::QueryResult> results;
  const auto guard = call.guard_statement(options.timeout_s);
  const sql::Limits limits = limits_of(options, *guard);
  for (const TraceInput& input : inputs) {
    auto result = sql::Database(input.models()).query(options.sql, limits);
    throw_if_failed(result);
    if (result->is_cut) {
      const bool by_rows = result->rows.size() == limits.max_rows;
      call.note("{}: the result is cut after {} rows: add LIMIT{}", input.file, result->rows.size(),
                by_rows ? ", or raise --max-rows" : ", because it exceeds 1 GB");
    }
    results.push_back(std::move(*result));
  }
  return results;
}

void print_results(Call& call, const QueryOptions& options, const std::vector<TraceInput>& inputs) {
  const auto results = run_statement(call, options, inputs);
  if (call.format() == Format::kJson) return print_json_results(call, inputs, results);
  for (size_t i = 0; i < inputs.size(); ++i) {
    print_title(call, inputs, inputs[i]);
    call.format() == Format::kCsv ? print_csv(call, results[i]) : print_table(call, results[i]);
  }
}

int query(Call& call, const QueryOptions& options) {
  if (options.sql.empty() && options.export_path.empty()) {
    fail("query", "no statement given: expected SQL or --export PATH");
  }
  if (options.timeout_s && (*options.timeout_s < 1 || *options.timeout_s > sql::kMaxTimeoutS)) {
    fail("query", "--timeout must be from 1 to {}", sql::kMaxTimeoutS);
  }
  if (options.format != "sqlite" && options.format != "parquet") {
    fail("query", "--format {}: must be sqlite or parquet", options.format);
  }
  if (options.max_rows && *options.max_rows < 1) fail("query", "--max-rows must be at least 1");
  std::vector<TraceSource> sources = {options.file};
  sources.insert(sources.end(), options.also.begin(), options.also.end());
  refuse_input_as_output("query", "--export", options.export_path, paths_of(sources));
  const auto inputs = call.read(sources);
  refuse_input_as_output("query", "--export", options.export_path, files_of(inputs));
  refuse_input_as_output("query", "--export", options.export_path,
                         {call.options().reading.names_file});
  if (!options.export_path.empty()) export_tables(call, options, inputs);
  if (!options.sql.empty()) print_results(call, options, inputs);
  show_notices(call, inputs);
  return kDone;
}

Run add(Options& options) {
  auto given = std::make_shared<QueryOptions>();
  options.footer(
      "Tables: events ops kernels launches steps annotations args frames\ncollectives "
      "(docs/query.md)");
  options.add("FILE", given->file, "A trace, or a folder of ranks").required();
  options.add("SQL", given->sql, "One SQL statement").key("sql");
  options.add("--also", given->also, "Query another trace as well (repeatable)")
      .value_name("FILE")
      .repeatable();
  options
      .add("--export", given->export_path,
           "Write all tables to a SQLite database, or to a folder of Parquet files")
      .value_name("PATH");
  options.add("--format", given->format, "Format of --export (sqlite)")
      .value_name("sqlite|parquet");
  options.add("--timeout", given->timeout_s, "Stop the statement after this time")
      .value_name("SECONDS");
  options.add("--max-rows", given->max_rows, "Rows to show at most (1000000)").value_name("N");
  return [given](Call& call) { return query(call, *given); };
}

std::string schema() { return VerbSchema("query").of_rows().text(); }

}  // namespace

extern const Verb kQuery{.name = "query",
                         .help =
                             "SQL queries on a trace\n"
                             "Example: epilogue query t.json 'select name, dur_ns from kernels'",
                         .add = add,
                         .schema = schema,
                         .formats = {.csv = true}};

}  // namespace epi::verbs
