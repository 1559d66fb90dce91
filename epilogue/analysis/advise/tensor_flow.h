// SPDX-License-Identifier: Apache-2.0
// Which operator made what another one reads. Traces do not name tensors: sizes, types and the
// order of launches decide, so that this is a guess. It is made for one step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "epilogue/analysis/cost/op_result.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

inline constexpr size_t kNoNode = SIZE_MAX;

struct FlowRead {
  TensorSize size;
  size_t maker = kNoNode;  // none: it comes from outside of the step
};

// Compilers keep these apart: nothing of one joins another.
enum class Phase : uint8_t { kForward, kBackward, kOptimizer };

// An operator with the device work that it launched.
struct FlowNode {
  trace::EventId op = trace::kNoEvent;
  std::vector<trace::EventId> work;
  int64_t device_ns = 0;
  Kind kind = Kind::kUnknown;  // of its longest work
  bool can_join = false;       // generated code could do this as a part of a larger kernel
  Phase phase = Phase::kForward;
  std::vector<FlowRead> reads;
  TensorSize result;
  double row = 0;             // as in OpFlow
  bool over_columns = false;  // likewise
  std::vector<size_t> readers;
  bool has_sizes() const { return result.elements > 0; }
  int depth = 0;  // how many works that cannot join lie before it, one behind the other
};

// Nodes by when they were launched. `work` is what one step owns, by when it was asked for.
std::vector<FlowNode> tensor_flow(const TraceIndex& index, std::span<const trace::EventId> work);

}  // namespace epi::analysis
