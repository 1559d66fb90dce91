// SPDX-License-Identifier: Apache-2.0
// What an operator reads and produces, derived from its name and input shapes, because traces do
// not record results.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct OpFlow {
  std::vector<TensorSize> reads;
  TensorSize result;          // no elements: unknown
  double row = 0;             // of a reduction: input elements per result element
  bool over_columns = false;  // reduces outer dimensions and keeps the innermost one
};

// Empty if shapes were not recorded.
OpFlow op_flow(const trace::Trace& trace, trace::EventId op);

}  // namespace epi::analysis
