// SPDX-License-Identifier: Apache-2.0
// `epilogue table FILE`: the profiler's table, as PyTorch prints it.
#include <memory>
#include <optional>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/base/error.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/gemm_report.h"
#include "epilogue/report/profiler_table_report.h"

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

int gemms(Session& session, const TableFlags& flags) {
  return print_each(
      session, flags,
      [&](JsonWriter& json, const TraceInput& input) {
        report::gemms_json(json, analysis::gemm_table(input.trace()), limit_of(flags));
      },
      [&](const TraceInput& input) {
        return report::gemms_text(analysis::gemm_table(input.trace()), limit_of(flags),
                                  flags.markdown, session.width());
      });
}

int table(Session& session, const TableFlags& flags) {
  if (flags.limit && *flags.limit < 1)
    fail("table", "--limit {}: must be at least 1", *flags.limit);
  if (flags.gemms) return gemms(session, flags);
  analysis::ProfilerTable probe;
  analysis::sort_rows(probe, flags.sort);  // reports an unknown column before reading the trace
  const report::TableStyle style{
      .limit = limit_of(flags), .shapes = flags.by_shape, .stats = flags.stats};
  const auto rows_of = [&](const TraceInput& input) {
    auto rows =
        analysis::profiler_table(input.trace(), {.by_shape = flags.by_shape, .stats = flags.stats});
    analysis::sort_rows(rows, flags.sort);
    return rows;
  };
  return print_each(
      session, flags,
      [&](JsonWriter& json, const TraceInput& input) {
        report::table_json(json, rows_of(input), style);
      },
      [&](const TraceInput& input) {
        return (flags.markdown ? report::table_markdown : report::table_text)(rows_of(input),
                                                                              style);
      });
}

}  // namespace

void add_table(Command& verb, Session& session) {
  auto flags = std::make_shared<TableFlags>();
  add_trace_flags(verb, *flags);
  const Option sort =
      verb.option("--sort", flags->sort, "Sort by a column, in PyTorch's names (cuda_time_total)")
          .value_name("NAME");
  verb.option("--limit", flags->limit, "Maximum number of rows (100; all with --json)")
      .value_name("N");
  const Option by_shape =
      verb.flag("--by-shape,--by_shape", flags->by_shape, "Group by input shapes");
  const Option stats = verb.flag("--stats", flags->stats, "Add minimum, median and p90 per call");
  verb.flag("--gemms", flags->gemms, "Show GEMMs with sizes, tiles, TFLOP/s and share of the peak")
      .excludes(by_shape)
      .excludes(stats)
      .excludes(sort);
  verb.run([flags, &session] { return table(session, *flags); });
}

}  // namespace epi::cli
