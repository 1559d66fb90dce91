// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace epi::analysis {

// A range with its most likely value.
struct Estimate {
  double low = 0;
  double likely = 0;
  double high = 0;

  void add(const Estimate& other) {
    low += other.low;
    likely += other.likely;
    high += other.high;
  }
  Estimate scaled(double factor) const { return {factor * low, factor * likely, factor * high}; }
};

}  // namespace epi::analysis
