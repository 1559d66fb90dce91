// SPDX-License-Identifier: Apache-2.0
// Runs the reader on any bytes, and all analyses and reports on the trace. No input may crash them
// or take long: the CPU time is limited per byte of input.
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/analysis/step/step_models.h"
#include "epilogue/report/advise/advise_report.h"
#include "epilogue/report/compare/compare_report.h"
#include "epilogue/report/description/described_json.h"
#include "epilogue/report/kernels/gemm_report.h"
#include "epilogue/report/page/page.h"
#include "epilogue/report/screen/first_screen.h"
#include "epilogue/report/steps/breakdown_report.h"
#include "epilogue/report/steps/steps_report.h"
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/report/tree/tree_report.h"
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

// The text and the JSON of a result.
template <typename Result>
void print(const Result& result) {
  text_of(result, {});
  epi::JsonWriter json;
  json.begin_object();
  epi::report::DescribedJson(json, epi::report::kSchema).members(result);
  json.end_object();
}

void run_all(const uint8_t* data, size_t size) {
  using namespace epi;
  // A compressed input with a longer text is refused: the time limit is for the size of the input.
  const auto trace = trace::read_bytes({reinterpret_cast<const char*>(data), size}, "fuzz",
                                       static_cast<int64_t>(size));
  if (!trace) return;
  print(
      report::TableResult{analysis::profiler_table(*trace, {.by_shape = true, .stats = true}), {}});
  const analysis::TraceIndex index(*trace);
  const analysis::StepModels models(index);
  print(report::SummaryResult(models, "fuzz"));
  print(report::AdviseResult(models, std::nullopt, "fuzz"));
  print(report::BreakdownResult(models));
  print(report::StepsResult(models));
  print(report::GemmsResult(*trace, std::nullopt));
  print(report::CompareResult{analysis::compare(models, models, std::nullopt), "fuzz", "fuzz"});
  text_of(report::TreeResult(index, {.begin_ns = INT64_MIN / 4, .end_ns = INT64_MAX / 4}), {});
  report::page_html({{"fuzz", models}});
  analysis::suggest_rules({&models});
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
