// SPDX-License-Identifier: Apache-2.0
// epilogue_rivals [--rows M,M,...] [--inputs K] [--outputs N] [--dtypes D,D,...]: the time of y = x
// @ w^T in Epilogue and in the other libraries found. They take turns of about 20 ms. Every ratio
// is the median over the turns, with its spread.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/peak_share.h"
#include "bench/rivals/rival.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"

namespace epi::bench {
namespace {

constexpr int kTurns = 11;
constexpr double kTurnNs = 20e6;
constexpr auto kPause = std::chrono::milliseconds(60);

struct Options {
  std::vector<int64_t> rows{1, 16, 512, 2048};
  int64_t inputs = 768;
  int64_t outputs = 3072;
  std::vector<std::string> dtypes{"f32", "bf16", "f16", "i8"};
};

using Rivals = std::vector<std::unique_ptr<Rival>>;

// "1.07x ±2%": the median, and half the range from p10 to p90.
std::string ratio_text(std::vector<double> ratios) {
  if (ratios.empty()) return "-";
  std::sort(ratios.begin(), ratios.end());
  const double median = analysis::median(ratios);
  const double range = analysis::percentile(ratios, 0.9) - analysis::percentile(ratios, 0.1);
  return fmt::format("{:.2f}x ±{:.0f}%", median, 50 * range / median);
}

// Slower rivals are called once: they would take minutes.
constexpr double kTooSlow = 100;

// The time of one call in every turn. Empty if the library does not support the case.
std::vector<std::vector<double>> take_turns(const Rivals& rivals, const LinearCase& linear) {
  std::vector<std::vector<double>> times(rivals.size());
  std::vector<int64_t> calls(rivals.size());  // per turn; 0: none
  double ours = 0;
  for (size_t i = 0; i < rivals.size(); ++i) {
    if (!rivals[i]->prepare(linear)) continue;
    const double once = rivals[i]->run(1);
    if (i == 0) ours = once;
    if (once > kTooSlow * ours) {
      times[i] = {once};
      continue;
    }
    calls[i] = std::max<int64_t>(1, static_cast<int64_t>(kTurnNs / once));
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < rivals.size(); ++i) {
      if (calls[i] == 0) continue;
      times[i].push_back(rivals[i]->run(calls[i]));
      // Its threads spin after a call, and would slow down the rival that comes next.
      if (num_threads() > 1) std::this_thread::sleep_for(kPause);
    }
  }
  return times;
}

void print_cases(const Options& options, const Rivals& rivals) {
  using report::Align;
  fmt::print("{}, {} thread{}; y = x @ w^T, {} -> {}\n", cpu_name(), num_threads(),
             num_threads() == 1 ? "" : "s", options.inputs, options.outputs);
  fmt::print("times relative to Epilogue's: above 1 is slower than Epilogue\n\n");
  std::vector<report::Table::Column> columns{{"dtype", Align::kLeft},
                                             {"rows", Align::kRight},
                                             {rivals.front()->name(), Align::kRight},
                                             {"% peak", Align::kRight}};
  for (size_t i = 1; i < rivals.size(); ++i) columns.push_back({rivals[i]->name(), Align::kRight});
  report::Table table(std::move(columns));
  for (const std::string& dtype_name : options.dtypes) {
    const DType dtype = *dtype_from_name(dtype_name);
    for (const int64_t rows : options.rows) {
      const LinearCase linear{dtype, rows, options.inputs, options.outputs};
      const GemmWork work = gemm_work(dtype, rows, options.inputs, options.outputs);
      const auto times = take_turns(rivals, linear);
      const double ours = analysis::median(times.front());
      std::vector<std::string> cells{std::string(name(dtype)), fmt::format("{}", rows),
                                     report::time_text(ours), text_of(peak_share(work, ours))};
      for (size_t i = 1; i < rivals.size(); ++i) {
        std::vector<double> ratios;
        for (size_t t = 0; t < times[i].size(); ++t) ratios.push_back(times[i][t] / times[0][t]);
        cells.push_back(ratio_text(std::move(ratios)));
      }
      table.add_row(std::move(cells));
    }
  }
  fmt::print("{}", table.text());
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  using namespace epi::bench;
  CLI::App app{
      "Times y = x @ w^T in Epilogue and in other libraries.\n"
      "Example: EPILOGUE_THREADS=1 epilogue_rivals --rows 1,512"};
  Options options;
  const CLI::Range sizes(int64_t{1}, int64_t{1} << 20);
  app.add_option("--rows", options.rows, "rows of x")->delimiter(',')->check(sizes);
  app.add_option("--inputs", options.inputs, "columns of x")->check(sizes);
  app.add_option("--dtypes", options.dtypes, "f32, bf16, f16, i8")
      ->delimiter(',')
      ->check(CLI::IsMember({"f32", "bf16", "f16", "i8"}));
  app.add_option("--outputs", options.outputs, "columns of y")->check(sizes);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  epi::register_cpu_backend();
  try {
    Rivals rivals;
    for (auto create : {epilogue_rival, openblas_rival, onednn_rival, torch_rival}) {
      if (auto rival = create()) rivals.push_back(std::move(rival));
    }
    print_cases(options, rivals);
  } catch (const std::exception& error) {
    fmt::print(stderr, "epilogue_rivals: {}\n", error.what());
    return 2;
  }
}
