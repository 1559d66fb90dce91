// SPDX-License-Identifier: Apache-2.0
// `epilogue query FILE SQL`: SQL queries on a trace, with SQLite.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "epilogue/analysis/sql/sql.h"
#include "epilogue/base/error.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/trace/parquet_export.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/table.h"

namespace epi::cli {
namespace {

struct QueryFlags : ReadingFlags {
  std::string file;
  std::vector<std::string> also;
  std::string sql;
  std::string export_path;
  std::string format = "sqlite";
  std::optional<int64_t> timeout_s;
  std::optional<int64_t> max_rows;
  bool json = false;
  bool csv = false;
  bool markdown = false;
};

std::string cell_text(const analysis::SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "";
}

// Quotes a cell if RFC 4180 requires it. Line breaks are shown as "\\n": one row is one line.
std::string csv_cell(const std::string& given) {
  std::string text = visible_text(given, LineBreaks::kReplace);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out += '"';
}

void print_csv(Session& session, const analysis::SqlResult& result) {
  const auto print_line = [&](const auto& cells, auto&& text) {
    for (size_t i = 0; i < cells.size(); ++i) {
      session.print("{}{}", i == 0 ? "" : ",", csv_cell(text(cells[i])));
    }
    session.print("\n");
  };
  print_line(result.columns, [](const std::string& name) { return name; });
  for (const auto& row : result.rows) print_line(row, cell_text);
}

void rows_json(JsonWriter& json, const analysis::SqlResult& result) {
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

void print_table(Session& session, const analysis::SqlResult& result, bool markdown) {
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
  session.print("{}", markdown ? table.markdown() : table.text());
}

void export_parquet(Session& session, const QueryFlags& flags,
                    const std::vector<TraceInput>& inputs) {
  const auto replaced = write_parquet(inputs, flags.export_path);
  throw_if_failed(replaced);
  if (*replaced > 0) {
    session.note("{}: {} bytes of text were not UTF-8 and are replaced", flags.export_path,
                 *replaced);
  }
}

void export_tables(Session& session, const QueryFlags& flags,
                   const std::vector<TraceInput>& inputs) {
  if (flags.format == "parquet") return export_parquet(session, flags, inputs);
  if (inputs.size() != 1) {
    fail("query", "--export {}: expected one trace, got {}", flags.export_path, inputs.size());
  }
  const auto written = analysis::SqlDatabase(inputs[0].index()).write_file(flags.export_path);
  throw_if_failed(written);
}

// Prints an array for one trace, and the usual object with `files` for several.
void print_json_results(Session& session, const std::vector<TraceInput>& inputs,
                        const std::vector<analysis::SqlResult>& results) {
  JsonWriter json;
  if (inputs.size() == 1) {
    rows_json(json, results[0]);
    session.print("{}\n", json.text());
    return;
  }
  begin_json(json, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    begin_input_json(json, inputs, inputs[i]);
    json.key("rows");
    rows_json(json, results[i]);
    end_input_json(json, inputs);
  }
  end_json(session, json, inputs);
}

analysis::SqlLimits limits_of(const QueryFlags& flags, const StatementGuard& guard) {
  analysis::SqlLimits limits;
  if (flags.max_rows) limits.max_rows = static_cast<size_t>(*flags.max_rows);
  limits.timeout_s = flags.timeout_s;
  limits.is_interrupted = [&guard] { return guard.is_interrupted(); };
  return limits;
}

void print_results(Session& session, const QueryFlags& flags,
                   const std::vector<TraceInput>& inputs) {
  std::vector<analysis::SqlResult> results;
  auto guard = session.guard_statement(flags.timeout_s);
  const analysis::SqlLimits limits = limits_of(flags, *guard);
  for (const TraceInput& input : inputs) {
    auto result = analysis::SqlDatabase(input.index()).query(flags.sql, limits);
    throw_if_failed(result);
    if (result->is_cut) {
      const bool by_rows = result->rows.size() == limits.max_rows;
      session.note("{}: the result is cut after {} rows: add LIMIT{}", input.file,
                   result->rows.size(),
                   by_rows ? ", or raise --max-rows" : ", because it exceeds 1 GB");
    }
    results.push_back(std::move(*result));
  }
  guard.reset();
  if (flags.json) return print_json_results(session, inputs, results);
  for (size_t i = 0; i < inputs.size(); ++i) {
    print_title(session, inputs, inputs[i]);
    flags.csv ? print_csv(session, results[i]) : print_table(session, results[i], flags.markdown);
  }
}

int query(Session& session, const QueryFlags& flags) {
  if (flags.sql.empty() && flags.export_path.empty()) {
    fail("query", "no statement given: expected SQL or --export PATH");
  }
  if (flags.timeout_s && (*flags.timeout_s < 1 || *flags.timeout_s > analysis::kMaxTimeoutS)) {
    fail("query", "--timeout must be from 1 to {}", analysis::kMaxTimeoutS);
  }
  if (flags.format != "sqlite" && flags.format != "parquet") {
    fail("query", "--format {}: must be sqlite or parquet", flags.format);
  }
  if (flags.max_rows && *flags.max_rows < 1) fail("query", "--max-rows must be at least 1");
  std::vector<std::string> files = {flags.file};
  files.insert(files.end(), flags.also.begin(), flags.also.end());
  refuse_input_as_output("query", "--export", flags.export_path, files);
  const auto inputs = session.read(files, flags);
  refuse_input_as_output("query", "--export", flags.export_path, files_of(inputs));
  refuse_input_as_output("query", "--export", flags.export_path, {flags.names_file});
  if (!flags.export_path.empty()) export_tables(session, flags, inputs);
  if (!flags.sql.empty()) print_results(session, flags, inputs);
  show_notices(session, inputs);
  return kDone;
}

}  // namespace

void add_query(Command& verb, Session& session) {
  auto flags = std::make_shared<QueryFlags>();
  verb.footer("Tables: events ops kernels launches steps annotations args frames\n(docs/query.md)");
  verb.option("FILE", flags->file, "A trace, or a folder of ranks").required();
  verb.option("SQL", flags->sql, "One SQL statement");
  verb.option("--also", flags->also, "Query another trace as well (repeatable)")
      .value_name("FILE")
      .repeatable();
  const Option json = verb.flag("--json", flags->json, "An array of objects");
  const Option csv = verb.flag("--csv", flags->csv, "Comma-separated values").excludes(json);
  verb.flag("--md", flags->markdown, "A Markdown table").excludes(json).excludes(csv);
  verb.option("--export", flags->export_path,
              "Write all tables to a SQLite database, or to a folder of Parquet files")
      .value_name("PATH");
  verb.option("--format", flags->format, "Format of --export (sqlite)")
      .value_name("sqlite|parquet");
  verb.option("--timeout", flags->timeout_s, "Stop the statement after this time")
      .value_name("SECONDS");
  verb.option("--max-rows", flags->max_rows, "Rows to show at most (1000000)").value_name("N");
  add_reading_flags(verb, *flags);
  verb.run([flags, &session] { return query(session, *flags); });
}

}  // namespace epi::cli
