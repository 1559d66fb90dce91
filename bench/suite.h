// SPDX-License-Identifier: Apache-2.0
// Claims about speed, each a ratio of two sides measured in one run. Machines are shared and noisy,
// and an absolute time on one machine does not transfer to another. The sides alternate every few
// milliseconds and the ratio is computed per turn, so that a slow moment affects both.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/peak_share.h"

namespace epi::bench {

// One side of a comparison. `before` and `after` run around its turn and are not timed.
struct Side {
  std::string name{};
  std::function<void()> body{};
  std::function<void()> before{};
  std::function<void()> after{};
};

enum class Bound { kAtMost, kAtLeast, kSlowerByAtMost };

// The claim, by `bound`. kAtMost: our time over the rival's is at most `limit`. kAtLeast: our work
// per time over the rival's is at least `limit`. kSlowerByAtMost: our minimum time exceeds the
// rival's by at most `limit` ns. Without a rival, the value is our time in ns.
struct Contest {
  std::string text;
  Side ours;
  Side rival;  // no body: no rival
  Bound bound = Bound::kAtMost;
  double limit = 1;
  int calls = 1;            // of the body per turn
  double work_ratio = 1.0;  // work of one of our calls over one of the rival's, for kAtLeast
  int turns = 41;
  bool warm_up = true;  // call once before each turn to bring the side's data back into the caches
  std::optional<GemmWork> gemm{};  // of one call of either side

  std::vector<double> ours_ns{};  // per call, one value per turn
  std::vector<double> rival_ns{};
};

// A claim about something other than time, measured once.
struct Measurement {
  std::string text;
  std::string unit;
  double limit = 1;  // maximum
  std::function<double()> measure;

  std::optional<double> value{};
};

class Suite {
 public:
  // `name` is matched by --benchmark_filter.
  void add(const std::string& name, Contest contest);
  void add(const std::string& name, Measurement measurement);
  // Runs the benchmarks selected by Google Benchmark's flags and prints times and claims. Returns
  // the number of claims that do not hold, or -1 if nothing was selected.
  int run(bool json);

 private:
  std::vector<std::unique_ptr<Contest>> contests_;
  std::vector<std::unique_ptr<Measurement>> measurements_;
};

// One function per benchmark file.
void add_callers(Suite& suite);
void add_compile(Suite& suite);
void add_dispatch(Suite& suite);
void add_explain(Suite& suite);
void add_hub(Suite& suite);
void add_linear(Suite& suite);
void add_mlp(Suite& suite);
void add_pointwise(Suite& suite);
void add_profile(Suite& suite);
void add_reader(Suite& suite);

// The rival of the reader: iterates over every event of a trace. Returns an exit code.
int walk_trace(const char* path);

// Prints the first call of a compiled MLP minus an eager call, in ms. Returns an exit code.
int print_first_call();

// A side that calls OpenBLAS on all cores, like a program that uses it directly.
Side openblas_side(std::string name, std::function<void()> body);

}  // namespace epi::bench
