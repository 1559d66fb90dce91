// SPDX-License-Identifier: Apache-2.0
// `epilogue table FILE`: the profiler's table, as PyTorch prints it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <optional>

#include "epilogue/analysis/profiler_table.h"
#include "epilogue/base/error.h"
#include "epilogue/cli/trace_inputs.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/gemm_report.h"
#include "epilogue/report/profiler_table.h"

namespace epi::cli {
namespace {

constexpr size_t kDefaultLimit = 100;

struct TableFlags : TraceFlags {
  std::string sort = "cuda_time_total";
  std::optional<int64_t> limit;
  bool by_shape = false;
  bool stats = false;
  bool gemms = false;
};

std::optional<size_t> limit_of(const TableFlags& flags) {
  if (flags.limit) return static_cast<size_t>(*flags.limit);
  return flags.json ? std::nullopt : std::optional(kDefaultLimit);
}

int gemms(const TableFlags& flags) {
  const auto inputs = read_inputs(flags.files);
  if (flags.json) {
    print_json(inputs, [&](JsonWriter& json, const TraceInput& input) {
      report::gemms_json(json, analysis::gemm_table(input.trace), limit_of(flags));
    });
    show_notices(inputs);
    return 0;
  }
  for (const TraceInput& input : inputs) {
    print_title(inputs, input);
    fmt::print("{}", report::gemms_text(analysis::gemm_table(input.trace), limit_of(flags),
                                        flags.markdown, screen_width()));
  }
  show_notices(inputs);
  return 0;
}

int table(const TableFlags& flags) {
  if (flags.limit && *flags.limit < 1)
    fail("table", "--limit {}: must be at least 1", *flags.limit);
  if (flags.gemms) return gemms(flags);
  analysis::ProfilerTable probe;
  analysis::sort_rows(probe, flags.sort);  // a mistake is found before a long read
  const report::TableStyle style{
      .limit = limit_of(flags), .shapes = flags.by_shape, .stats = flags.stats};
  const auto inputs = read_inputs(flags.files);
  const auto rows_of = [&](const TraceInput& input) {
    auto rows =
        analysis::profiler_table(input.trace, {.by_shape = flags.by_shape, .stats = flags.stats});
    analysis::sort_rows(rows, flags.sort);
    return rows;
  };
  if (flags.json) {
    print_json(inputs, [&](JsonWriter& json, const TraceInput& input) {
      report::table_json(json, rows_of(input), style);
    });
    show_notices(inputs);
    return 0;
  }
  for (const TraceInput& input : inputs) {
    print_title(inputs, input);
    const auto rows = rows_of(input);
    fmt::print("{}", (flags.markdown ? report::table_markdown : report::table_text)(rows, style));
  }
  show_notices(inputs);
  return 0;
}

}  // namespace

void add_table(CLI::App& app, Action& action) {
  auto flags = std::make_shared<TableFlags>();
  CLI::App* verb = app.add_subcommand("table",
                                      "The profiler's table, as PyTorch prints it\n"
                                      "Example: epilogue table trace.json --limit 20");
  add_trace_flags(*verb, *flags);
  CLI::Option* sort =
      verb->add_option("--sort", flags->sort, "PyTorch's name of a column (cuda_time_total)")
          ->type_name("NAME");
  verb->add_option("--limit", flags->limit, "Rows shown (100; with --json all)")->type_name("N");
  CLI::Option* by_shape = verb->add_flag("--by-shape,--by_shape", flags->by_shape,
                                         "A row for each shape of the inputs");
  CLI::Option* stats = verb->add_flag("--stats", flags->stats, "Minimum, median and p90 of a call");
  verb->add_flag("--gemms", flags->gemms, "Matrix products, with their share of the peak")
      ->excludes(by_shape)
      ->excludes(stats)
      ->excludes(sort);
  verb->callback([flags, &action] { action = [flags] { return table(*flags); }; });
}

}  // namespace epi::cli
