// SPDX-License-Identifier: Apache-2.0
// Runs the reader on any bytes, and all analyses and reports on the trace. No input may crash them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/compare/compare.h"
#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/analysis/time/gemms.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/first_screen.h"
#include "epilogue/report/gemm_report.h"
#include "epilogue/report/page.h"
#include "epilogue/report/profiler_table_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/summary_report.h"
#include "epilogue/report/tree_report.h"
#include "epilogue/trace/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epi;
  const auto trace = trace::read_text({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!trace) return 0;
  report::table_text(analysis::profiler_table(*trace, {.by_shape = true, .stats = true}), {});
  const analysis::TraceIndex index(*trace);
  report::summary_markdown(analysis::summarize(index), "fuzz");
  report::first_screen(report::screen_data(index), index.trace, "fuzz", 80);
  report::advise_text(analysis::advise(index, std::nullopt), *trace, {.file = "fuzz"});
  report::page_html({{"fuzz", index}});
  const trace::Links links = trace::link(*trace);
  const analysis::Ownership ownership(*trace, links);
  report::steps_text({analysis::steps(*trace, ownership), analysis::annotations(*trace, ownership)},
                     false, 80);
  report::tree_text(*trace, links, {.begin_ns = INT64_MIN / 4, .end_ns = INT64_MAX / 4});
  report::gemms_text(analysis::gemm_table(*trace), std::nullopt, false, 80);
  report::compare_text(analysis::compare(index, index, std::nullopt), {});
  analysis::suggest_rules({&index});
  return 0;
}
