// SPDX-License-Identifier: Apache-2.0
// A trace with the diagnosis of its steps.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "epilogue/analysis/step/diagnosis.h"
#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {

// The critical path has no gaps and covers the analyzed window.
inline void expect_path_covers_window(const Diagnosis& diagnosis) {
  ASSERT_FALSE(diagnosis.path.empty());
  int64_t at = diagnosis.analyzed.begin;
  BoundTimes bounds{};
  for (const PathPart& part : diagnosis.path) {
    ASSERT_EQ(part.begin_ns, at);
    ASSERT_GT(part.end_ns, part.begin_ns);
    at = part.end_ns;
    bounds[static_cast<size_t>(part.bound)] += part.end_ns - part.begin_ns;
  }
  EXPECT_EQ(at, diagnosis.analyzed.end);
  EXPECT_EQ(at, diagnosis.step.window.end);
  EXPECT_EQ(diagnosis.analyzed.begin, diagnosis.step.window.begin + diagnosis.clipped_ns);
  EXPECT_EQ(bounds, diagnosis.bounds);
}

struct DiagnosedTrace {
  explicit DiagnosedTrace(const trace::TraceBuilder& builder) : made(builder.trace()) {
    expect_path_covers_window(diagnosis);
  }
  // A trace in tests/data.
  explicit DiagnosedTrace(const std::string& file) : made(file) {
    expect_path_covers_window(diagnosis);
  }
  const Diagnosis* operator->() const { return &diagnosis; }

  ModeledTrace made;
  Diagnosis diagnosis = diagnoses(made.models).at(0);
};

}  // namespace epi::analysis
