// SPDX-License-Identifier: Apache-2.0
// The inputs of an operator, from a trace recorded with `record_shapes`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct OpInput {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // empty if the trace does not record them
  std::string type;              // "c10::BFloat16"; "Scalar", "" and others if it is not a tensor
  int64_t element_bytes = 0;     // 0: not a tensor, or its type is unknown

  bool is_tensor() const { return element_bytes > 0; }
  // Elements in memory: an expanded dimension has stride 0 and counts once.
  double stored_elements() const;
  double stored_bytes() const;
};

struct TensorSize {
  double elements = 0;  // in memory
  int64_t element_bytes = 0;

  double bytes() const { return elements * static_cast<double>(element_bytes); }
  bool operator==(const TensorSize&) const = default;
};
// The broadcast shape in the widest type. A zero-dimensional tensor does not widen the type of the
// others.
TensorSize broadcast_size(const std::vector<OpInput>& inputs);

// In the order of the operator's arguments. Empty if shapes were not recorded.
std::vector<OpInput> op_inputs(const trace::Trace& trace, trace::EventId op);

// The operator's name without its namespace and in-place suffix: "mul" for "aten::mul_".
std::string_view plain_op(std::string_view name);
// True for operators that change only shape and strides and launch nothing: "aten::t",
// "aten::view".
bool is_view_op(std::string_view name);

// The numbers of "[8192, 768]". The list ends at the first item that is not an integer.
std::vector<int64_t> integers(std::string_view json_array);

}  // namespace epi::analysis
