// SPDX-License-Identifier: Apache-2.0
// GPU time and host time of repeated calls, and how they are printed. A time is the median over
// rounds or calls, with the minimum and the maximum.
#pragma once

#include <functional>
#include <vector>

namespace epi::bench {

using Body = std::function<void()>;

inline constexpr int kRounds = 9;

struct Spread {
  double median;
  double min;
  double max;
};

Spread spread_of(std::vector<double> values);

// Host time in microseconds to enqueue one forward while the GPU is idle.
Spread issue_us(const Body& body);

// GPU time in microseconds per forward, many back to back. Pauses before each round, because at its
// power limit a GPU runs every GEMM at the same speed.
Spread wall_us(const Body& body, int rounds = kRounds);

// Host time of one call in nanoseconds, averaged over a few hundred calls that fit into the GPU's
// queue.
double host_ns(const Body& body);

// Prints the members `name`, `name`_min and `name`_max of a JSON object, and then `after`.
void print(const char* name, const Spread& spread, const char* after);

}  // namespace epi::bench
