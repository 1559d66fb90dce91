// SPDX-License-Identifier: Apache-2.0
#include "bench/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/report/table.h"
#include "epilogue/report/units.h"

namespace epi::bench {
namespace {

constexpr int kRepetitions = 15;
constexpr double kSecondsPerRepetition = 0.05;
// OpenBLAS 0.3.21 spins for 2^26 cycles after a call, about 30 ms, before its threads sleep.
constexpr auto kOpenBlasSpin = std::chrono::milliseconds(60);

struct Times {
  std::vector<double> ns;  // of one call, a value a repetition, sorted

  double at(double quantile) const {
    return ns[static_cast<size_t>(quantile * static_cast<double>(ns.size() - 1) + 0.5)];
  }
};

// Collects the repetitions' times; Google Benchmark prints nothing itself.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      auto& ns = times[run.run_name.function_name].ns;
      ns.push_back(run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations));
    }
  }
  void Finalize() override {
    for (auto& [name, collected] : times) std::sort(collected.ns.begin(), collected.ns.end());
  }

  std::map<std::string, Times> times;
};

struct Verdict {
  const Claim* claim;
  double value;
  bool holds;
};

std::vector<Verdict> judge(const std::vector<Claim>& claims,
                           const std::map<std::string, Times>& times) {
  std::vector<Verdict> verdicts;
  for (const Claim& claim : claims) {
    const auto ours = times.find(claim.ours);
    const auto rival = times.find(claim.rival);
    if (ours == times.end() || (rival == times.end() && !claim.rival.empty())) continue;
    const double value =
        claim.value(ours->second.at(0.5), claim.rival.empty() ? 0 : rival->second.at(0.5));
    const bool holds = claim.want == Want::kAtMost ? value <= claim.limit : value >= claim.limit;
    verdicts.push_back({&claim, value, holds});
  }
  return verdicts;
}

std::string claim_limit(const Claim& claim) {
  return fmt::format("{} {}{}", claim.want == Want::kAtMost ? "<=" : ">=", claim.limit, claim.unit);
}

void print_text(const std::map<std::string, Times>& times, const std::vector<Verdict>& verdicts) {
  using report::Align;
  fmt::print("{}, {} threads, loops for {}, OpenBLAS core {}\n{} interleaved repetitions\n\n",
             cpu_name(), num_threads(), name(cpu_isa()), cpu::openblas().core, kRepetitions);
  report::Table table({{"benchmark", Align::kLeft},
                       {"minimum", Align::kRight},
                       {"median", Align::kRight},
                       {"p90", Align::kRight}});
  for (const auto& [name, t] : times) {
    table.add_row({name, report::time_text(t.at(0)), report::time_text(t.at(0.5)),
                   report::time_text(t.at(0.9))});
  }
  fmt::print("{}\n", table.text());
  report::Table claims({{"claim", Align::kLeft},
                        {"measured", Align::kRight},
                        {"limit", Align::kRight},
                        {"", Align::kLeft}});
  for (const auto& [claim, value, holds] : verdicts) {
    claims.add_row({claim->text, fmt::format("{:.3g}{}", value, claim->unit), claim_limit(*claim),
                    holds ? "ok" : "BROKEN"});
  }
  fmt::print("{}", claims.text());
}

void print_json(const std::map<std::string, Times>& times, const std::vector<Verdict>& verdicts) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("cpu").string(cpu_name());
  json.key("threads").integer(num_threads()).key("openblas").string(cpu::openblas().core);
  json.key("benchmarks").begin_array();
  for (const auto& [name, t] : times) {
    json.begin_object().key("name").string(name).key("minimum_us").fixed(t.at(0) / 1000, 3);
    json.key("median_us").fixed(t.at(0.5) / 1000, 3).key("p90_us").fixed(t.at(0.9) / 1000, 3);
    json.end_object();
  }
  json.end_array().key("claims").begin_array();
  for (const auto& [claim, value, holds] : verdicts) {
    json.begin_object().key("claim").string(claim->text).key("value").fixed(value, 3);
    json.key("limit").string(claim_limit(*claim)).key("holds").boolean(holds).end_object();
  }
  json.end_array().end_object();
  fmt::print("{}\n", json.text());
}

}  // namespace

void Suite::add(const std::string& name, std::function<void()> body, std::function<void()> before,
                std::function<void()> after) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [body = std::move(body), before = std::move(before),
                                after = std::move(after)](benchmark::State& state) {
                                 if (before) before();
                                 body();  // warm
                                 for ([[maybe_unused]] auto _ : state) body();
                                 if (after) after();
                               })
      ->UseRealTime()
      ->Repetitions(kRepetitions)
      ->MinTime(kSecondsPerRepetition);
}

void Suite::at_most(const std::string& text, const std::string& ours, const std::string& rival,
                    double limit) {
  claims_.push_back({text, ours, rival, Want::kAtMost, limit, "x",
                     [](double ours_ns, double rival_ns) { return ours_ns / rival_ns; }});
}

void Suite::at_least(const std::string& text, const std::string& ours, const std::string& rival,
                     double limit, double scale) {
  claims_.push_back(
      {text, ours, rival, Want::kAtLeast, limit, "x",
       [scale](double ours_ns, double rival_ns) { return scale * rival_ns / ours_ns; }});
}

void Suite::at_most_ns(const std::string& text, const std::string& ours, double limit) {
  claims_.push_back({text, ours, "", Want::kAtMost, limit, " ns",
                     [](double ours_ns, double /*rival*/) { return ours_ns; }});
}

int Suite::run(bool json) {
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  const auto verdicts = judge(claims_, collector.times);
  (json ? print_json : print_text)(collector.times, verdicts);
  return static_cast<int>(
      std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return !v.holds; }));
}

std::function<void()> openblas_threads() {
  return [] { cpu::openblas().set_num_threads(num_threads()); };
}

std::function<void()> openblas_quiet() {
  return [] {
    cpu::openblas().set_num_threads(1);
    std::this_thread::sleep_for(kOpenBlasSpin);
  };
}

}  // namespace epi::bench
