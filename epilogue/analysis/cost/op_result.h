// SPDX-License-Identifier: Apache-2.0
// What an operator reads and makes, by its name and the shapes of its inputs: traces do not record
// results.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct OpFlow {
  std::vector<TensorSize> reads;
  TensorSize result;          // no elements: not known
  double row = 0;             // of a reduction: how many elements become one
  bool over_columns = false;  // it reduces over outer dimensions and keeps inner ones
};

// Nothing is read and made where shapes were not recorded.
OpFlow op_flow(const trace::Trace& trace, trace::EventId op);

}  // namespace epi::analysis
