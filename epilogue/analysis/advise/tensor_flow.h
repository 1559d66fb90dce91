// SPDX-License-Identifier: Apache-2.0
// Which operator produced the tensors that another one reads. Traces do not identify tensors, so
// this is a guess from sizes, types and launch order. Covers one step.
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
  size_t maker = kNoNode;  // kNoNode: from outside the step
};

// Compilers do not fuse across these.
enum class Phase : uint8_t { kForward, kBackward, kOptimizer };

// An operator with the device work that it launched.
struct FlowNode {
  trace::EventId op = trace::kNoEvent;
  std::vector<trace::EventId> work;
  int64_t device_ns = 0;
  Kind kind = Kind::kUnknown;  // of its longest work
  bool can_join = false;       // generated code could include it in a larger kernel
  Phase phase = Phase::kForward;
  std::vector<FlowRead> reads;
  TensorSize result;
  double row = 0;             // as in OpFlow
  bool over_columns = false;  // as in OpFlow
  std::vector<size_t> readers;
  bool has_sizes() const { return result.elements > 0; }
  int depth = 0;  // length of the longest chain of non-fusible producers before it
};

// Nodes in launch order. `work` is the work that one step owns, in launch order.
std::vector<FlowNode> tensor_flow(const TraceIndex& index, std::span<const trace::EventId> work);

}  // namespace epi::analysis
