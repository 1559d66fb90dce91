// SPDX-License-Identifier: Apache-2.0
// What a contest came to, and how it is printed.
#pragma once

#include <string>
#include <vector>

#include "bench/suite.h"

namespace epi::bench {

// The value of the claim over the turns: ratios, or ns where there is no rival.
struct Verdict {
  std::string text;
  std::string limit;       // "<= 150 ns"
  const Contest* contest;  // null for a measurement
  double median;
  double p10;
  double p90;
  bool holds;  // by the median
};

Verdict judge(const Contest& contest);
Verdict judge(const Measurement& measurement);
void print_text(const std::vector<Verdict>& verdicts);
void print_json(const std::vector<Verdict>& verdicts);

}  // namespace epi::bench
