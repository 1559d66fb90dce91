// SPDX-License-Identifier: Apache-2.0
// The inputs of an operator as a trace with recorded shapes has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct OpInput {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // empty where the trace does not have them
  std::string type;              // "c10::BFloat16"; "Scalar", "" and others for what is no tensor
  int64_t element_bytes = 0;     // 0: not a tensor of a known type

  bool is_tensor() const { return element_bytes > 0; }
  // Elements that lie in memory: an expanded dimension has stride 0 and counts once.
  double stored_elements() const;
  double stored_bytes() const;
};

struct TensorSize {
  double elements = 0;  // that lie in memory
  int64_t element_bytes = 0;

  double bytes() const { return elements * static_cast<double>(element_bytes); }
  bool operator==(const TensorSize&) const = default;
};
// The shape that broadcasting gives, in the widest type. A tensor without dimensions does not widen
// the others.
TensorSize broadcast_size(const std::vector<OpInput>& inputs);

// In the order of the operator's arguments; empty where shapes were not recorded.
std::vector<OpInput> op_inputs(const trace::Trace& trace, trace::EventId op);

// "mul" of "aten::mul_": the operator without its namespace, in place or not.
std::string_view plain_op(std::string_view name);
// Rewrites shape and strides, and launches nothing: "aten::t", "aten::view".
bool is_view_op(std::string_view name);

// The numbers of "[8192, 768]"; what is not a number ends the list.
std::vector<int64_t> integers(std::string_view json_array);

}  // namespace epi::analysis
