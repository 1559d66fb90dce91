// SPDX-License-Identifier: Apache-2.0
// Evaluates contests and prints the results.
#pragma once

#include <string>
#include <vector>

#include "bench/suite.h"

namespace epi::bench {

// The value of the claim over all turns: ratios, or ns if there is no rival.
struct Verdict {
  std::string text;
  std::string limit;       // "<= 150 ns"
  const Contest* contest;  // null for a measurement
  double median;
  double p10;
  double p90;
  bool holds;  // judged by the median
};

Verdict judge(const Contest& contest);
Verdict judge(const Measurement& measurement);
void print_text(const std::vector<Verdict>& verdicts);
void print_json(const std::vector<Verdict>& verdicts);

}  // namespace epi::bench
