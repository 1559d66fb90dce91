// SPDX-License-Identifier: Apache-2.0
// Runs the reader on any bytes, and all analyses and reports on the trace. No input may crash them
// or take long: the CPU time is limited per byte of input.
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

namespace {

// With sanitizers, a report takes up to 20 ms for an empty trace, and 20 us per byte where 64
// annotations overlap. Quadratic time exceeds the limit for inputs of a few hundred kB.
constexpr double kSecondsPerInput = 2;
constexpr double kSecondsPerByte = 100e-6;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void run_all(const uint8_t* data, size_t size) {
  using namespace epi;
  // A compressed input with a longer text is refused: the time limit is for the size of the input.
  const auto trace = trace::read_bytes({reinterpret_cast<const char*>(data), size}, "fuzz",
                                       static_cast<int64_t>(size));
  if (!trace) return;
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
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const double start = cpu_seconds();
  run_all(data, size);
  const double seconds = cpu_seconds() - start;
  if (seconds > kSecondsPerInput + kSecondsPerByte * static_cast<double>(size)) {
    std::fprintf(stderr, "%zu bytes took %.1f s\n", size, seconds);
    std::abort();
  }
  return 0;
}
