// SPDX-License-Identifier: Apache-2.0
// Claims about speed, each a ratio of two benchmarks of one run: machines are shared and noisy, and
// an absolute time on one of them says nothing about another. Repetitions of all benchmarks are
// interleaved at random, so that a slow moment of the machine hits both sides.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

namespace epi::bench {

enum class Want { kAtMost, kAtLeast };

// `value` is made of the median times (in ns) of `ours` and `rival` and compared with the limit.
struct Claim {
  std::string text;
  std::string ours;
  std::string rival;  // empty: an absolute time
  Want want = Want::kAtMost;
  double limit = 1;
  std::string unit;  // "x", "ns"
  std::function<double(double ours_ns, double rival_ns)> value;
};

class Suite {
 public:
  // `body` is one call of what is measured; `before` and `after` run around each repetition,
  // untimed.
  void add(const std::string& name, std::function<void()> body, std::function<void()> before = {},
           std::function<void()> after = {});
  // ours / rival: how many times as long.
  void at_most(const std::string& text, const std::string& ours, const std::string& rival,
               double limit);
  // rival / ours * scale: how many times as fast; `scale` is the work of ours over that of the
  // rival.
  void at_least(const std::string& text, const std::string& ours, const std::string& rival,
                double limit, double scale = 1);
  // ours in ns.
  void at_most_ns(const std::string& text, const std::string& ours, double limit);

  // Runs what Google Benchmark's flags select; prints times, then claims. Returns the broken ones.
  int run(bool json);

 private:
  std::vector<Claim> claims_;
};

// One function a file of benchmarks.
void add_dispatch(Suite& suite);
void add_linear(Suite& suite);
void add_mlp(Suite& suite);
void add_pointwise(Suite& suite);

// The rival's side: OpenBLAS on all cores, as a program that calls it by itself has it.
std::function<void()> openblas_threads();
// Back to one thread; waits until OpenBLAS's own threads have stopped spinning.
std::function<void()> openblas_quiet();

}  // namespace epi::bench
