// SPDX-License-Identifier: Apache-2.0
// `epilogue table FILE`: the profiler's table, as PyTorch prints it.
#include <memory>
#include <optional>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/base/error.h"
#include "epilogue/report/kernels/gemm_report.h"
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

constexpr size_t kDefaultLimit = 100;

struct TableOptions {
  std::vector<TraceSource> files;
  std::string sort = "cuda_time_total";
  std::optional<int64_t> limit;
  bool by_shape = false;
  bool stats = false;
  bool gemms = false;
};

std::optional<size_t> limit_of(const Call& call, const TableOptions& options) {
  if (options.limit) return static_cast<size_t>(*options.limit);
  return call.format() == Format::kJson ? std::nullopt : std::optional(kDefaultLimit);
}

int table(Call& call, const TableOptions& options) {
  if (options.limit && *options.limit < 1) {
    fail("table", "--limit {}: must be at least 1", *options.limit);
  }
  const auto limit = limit_of(call, options);
  if (options.gemms) {
    return print_each(call, call.read(options.files), [&](const TraceInput& input) {
      return report::GemmsResult(input.trace(), limit);
    });
  }
  analysis::ProfilerTable probe;
  analysis::sort_rows(probe, options.sort);  // reports an unknown column before reading the trace
  return print_each(call, call.read(options.files), [&](const TraceInput& input) {
    auto rows = analysis::profiler_table(input.trace(),
                                         {.by_shape = options.by_shape, .stats = options.stats});
    analysis::sort_rows(rows, options.sort);
    return report::TableResult{
        std::move(rows), {.limit = limit, .shapes = options.by_shape, .stats = options.stats}};
  });
}

Run add(Options& options) {
  auto given = std::make_shared<TableOptions>();
  add_files(options, given->files);
  const Option& sort =
      options.add("--sort", given->sort, "Sort by a column, in PyTorch's names (cuda_time_total)")
          .value_name("NAME");
  options.add("--limit", given->limit, "Maximum number of rows (100; all with --json)")
      .value_name("N");
  const Option& by_shape =
      options.add("--by-shape,--by_shape", given->by_shape, "Group by input shapes");
  const Option& stats =
      options.add("--stats", given->stats, "Add minimum, median and p90 per call");
  options
      .add("--gemms", given->gemms, "Show GEMMs with sizes, tiles, TFLOP/s and share of the peak")
      .excludes(by_shape)
      .excludes(stats)
      .excludes(sort);
  return [given](Call& call) { return table(call, *given); };
}

std::string schema() {
  return VerbSchema("table").of_trace<report::TableResult>().of_trace<report::GemmsResult>().text();
}

}  // namespace

extern const Verb kTable{.name = "table",
                         .help =
                             "The profiler table, as PyTorch prints it\n"
                             "Example: epilogue table trace.json --limit 20",
                         .add = add,
                         .schema = schema,
                         .formats = {.csv = true}};

}  // namespace epi::verbs
