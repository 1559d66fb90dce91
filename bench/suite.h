// SPDX-License-Identifier: Apache-2.0
// Claims about speed, each a ratio of two sides measured in one run: machines are shared and noisy,
// and an absolute time on one of them says nothing about another. The sides take turns, a few
// milliseconds each, and the ratio is taken turn by turn, so that a slow moment hits both.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace epi::bench {

// One of the two things compared. `before` and `after` run around its turn, untimed.
struct Side {
  std::string name{};
  std::function<void()> body{};
  std::function<void()> before{};
  std::function<void()> after{};
};

enum class Want { kAtMost, kAtLeast, kSlowerByAtMost };

// The claim: time of ours / time of the rival at most the limit; or work of ours / time of ours
// over that of the rival at least the limit; or ours slower by at most so many ns, by the minima of
// both. Without a rival, the time of ours in ns.
struct Contest {
  std::string text;
  Side ours;
  Side rival;  // without a body: none
  Want want = Want::kAtMost;
  double limit = 1;
  int calls = 1;            // of a body in one turn
  double work_ratio = 1.0;  // the work of one call of ours over that of the rival, for kAtLeast
  int turns = 41;
  bool warm_up = true;  // a call before each turn brings the side's own data back into the caches

  std::vector<double> ours_ns{};  // of one call, a value a turn
  std::vector<double> rival_ns{};
};

// A claim about something other than time, measured once.
struct Measurement {
  std::string text;
  std::string unit;
  double limit = 1;  // at most
  std::function<double()> measure;

  std::optional<double> value{};
};

class Suite {
 public:
  // `name` is what --benchmark_filter selects by.
  void add(const std::string& name, Contest contest);
  void add(const std::string& name, Measurement measurement);
  // Runs what Google Benchmark's flags select; prints times and claims. Returns how many are
  // broken, or -1 where nothing was selected.
  int run(bool json);

 private:
  std::vector<std::unique_ptr<Contest>> contests_;
  std::vector<std::unique_ptr<Measurement>> measurements_;
};

// One function a file of benchmarks.
void add_compile(Suite& suite);
void add_dispatch(Suite& suite);
void add_explain(Suite& suite);
void add_hub(Suite& suite);
void add_linear(Suite& suite);
void add_mlp(Suite& suite);
void add_pointwise(Suite& suite);
void add_profile(Suite& suite);
void add_reader(Suite& suite);

// The rival of reading: walks over every event of a trace and does nothing else. An exit code.
int walk_trace(const char* path);

// Prints what the first call of a compiled MLP takes over an eager one, in ms. An exit code.
int print_first_call();

// A side that calls OpenBLAS on all cores, as a program that uses it directly does.
Side openblas_side(std::string name, std::function<void()> body);

}  // namespace epi::bench
