// SPDX-License-Identifier: Apache-2.0
// A trace with its index and its models. They refer to each other, and steps and diagnoses refer to
// them, so they live and die together.
#pragma once

#include <ostream>
#include <string>
#include <utility>

#include "epilogue/analysis/step/step_models.h"
#include "tests/analysis/test_data.h"

namespace epi::analysis {

struct ModeledTrace {
  explicit ModeledTrace(trace::Trace recorded) : trace(std::move(recorded)) {}
  // A trace in tests/data.
  explicit ModeledTrace(const std::string& file) : ModeledTrace(read_data(file)) {}
  ModeledTrace(const ModeledTrace&) = delete;
  ModeledTrace& operator=(const ModeledTrace&) = delete;

  trace::Trace trace;
  TraceIndex index{trace};
  StepModels models{index};
};

// In failures of tests, in microseconds.
inline void PrintTo(const Interval& interval, std::ostream* out) {
  constexpr double kUs = 1000;
  *out << static_cast<double>(interval.begin) / kUs << " to "
       << static_cast<double>(interval.end) / kUs << " us";
}

}  // namespace epi::analysis
