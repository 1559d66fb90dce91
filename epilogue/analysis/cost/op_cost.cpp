// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/cost/op_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/analysis/names/words.h"
#include "epilogue/base/join.h"
#include "epilogue/pointwise/table.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

using Inputs = std::vector<OpInput>;

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// One result of the broadcast shape, in the widest type of the inputs.
bool is_pointwise(std::string_view op) {
  const auto is_named = [&](const auto& row) { return row.op == op; };
  return std::any_of(std::begin(pointwise::kFunctions), std::end(pointwise::kFunctions),
                     is_named) ||
         std::any_of(std::begin(pointwise::kTraceOnly), std::end(pointwise::kTraceOnly), is_named);
}

// One result of the first input's shape and type.
constexpr std::string_view kRowWise[] = {
    "_softmax",          "_log_softmax", "_safe_softmax", "softmax",         "log_softmax",
    "native_layer_norm", "layer_norm",   "rms_norm",      "_fused_rms_norm", "cumsum"};
constexpr std::string_view kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

const OpInput* tensor(const Inputs& inputs, size_t place) {
  return place < inputs.size() && inputs[place].is_tensor() ? &inputs[place] : nullptr;
}

std::optional<GemmShape> gemm_of(const OpInput* a, const OpInput* b) {
  if (a == nullptr || b == nullptr || a->dims.size() != b->dims.size()) return std::nullopt;
  const size_t rank = a->dims.size();
  if (rank != 2 && rank != 3) return std::nullopt;
  if (rank == 3 && a->dims[0] != b->dims[0]) return std::nullopt;
  if (a->dims[rank - 1] != b->dims[rank - 2]) return std::nullopt;
  return GemmShape{rank == 3 ? a->dims[0] : 1, a->dims[rank - 2], b->dims[rank - 1],
                   a->dims[rank - 1]};
}

// [m, k] times a vector of length k.
std::optional<GemmShape> gemv_shape(const OpInput* a, const OpInput* x) {
  if (a == nullptr || x == nullptr || a->dims.size() != 2 || x->dims.size() != 1 ||
      a->dims[1] != x->dims[0]) {
    return std::nullopt;
  }
  return GemmShape{1, a->dims[0], 1, a->dims[1]};
}

// x of [..., k] times a weight of [n, k].
std::optional<GemmShape> linear_gemm(const OpInput* x, const OpInput* weight) {
  if (x == nullptr || weight == nullptr || x->dims.empty() || weight->dims.size() != 2 ||
      x->dims.back() != weight->dims[1]) {
    return std::nullopt;
  }
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < x->dims.size(); ++i) rows *= x->dims[i];
  return GemmShape{1, rows, weight->dims[0], weight->dims[1]};
}

std::optional<GemmShape> gemm_of(std::string_view name, const Inputs& inputs) {
  if (!name.starts_with("aten::")) return std::nullopt;
  const std::string_view op = plain_op(name);
  if (op == "mv") return gemv_shape(tensor(inputs, 0), tensor(inputs, 1));
  if (op == "addmv") return gemv_shape(tensor(inputs, 1), tensor(inputs, 2));
  if (op == "mm" || op == "bmm" || op == "_scaled_mm" || op == "_int_mm") {
    return gemm_of(tensor(inputs, 0), tensor(inputs, 1));
  }
  if (op == "addmm" || op == "baddbmm" || op == "_addmm_activation") {
    return gemm_of(tensor(inputs, 1), tensor(inputs, 2));
  }
  if (op == "linear") return linear_gemm(tensor(inputs, 0), tensor(inputs, 1));
  return std::nullopt;
}

double sum_of_inputs(const Inputs& inputs, size_t limit = SIZE_MAX) {
  double bytes = 0;
  for (size_t i = 0; i < std::min(inputs.size(), limit); ++i) {
    if (inputs[i].is_tensor()) bytes += inputs[i].stored_bytes();
  }
  return bytes;
}

MovedBytes gemm_bytes(std::string_view name, const Inputs& inputs, const GemmShape& gemm) {
  const std::string_view op = plain_op(name);
  const bool adds =
      op.starts_with("add") || op == "baddbmm" || op == "_addmm_activation" || op == "linear";
  const double result_elements =
      static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n);
  // These write a wider type than they read, and the trace does not record it.
  const bool widens = op == "_scaled_mm" || op == "_int_mm";
  const double element = static_cast<double>(inputs[1].element_bytes);
  return {sum_of_inputs(inputs, adds ? 3 : 2) + result_elements * element, widens};
}

double pointwise_bytes(const Inputs& inputs, bool compares) {
  TensorSize result = broadcast_size(inputs);
  if (compares) result.element_bytes = 1;
  return sum_of_inputs(inputs) + result.bytes();
}

}  // namespace

std::string GemmShape::text() const {
  const std::string plain = fmt::format("{}x{}x{}", m, n, k);
  return batch == 1 ? plain : fmt::format("{} of {}", batch, plain);
}

std::optional<GemmShape> gemm_shape(const trace::Trace& trace, EventId op) {
  return gemm_of(trace.name_of(op), op_inputs(trace, op));
}

bool is_glu_kernel(const trace::Trace& trace, EventId op, EventId kernel) {
  return trace.name_of(op).starts_with("epilogue::glu_mlp") &&
         trace.name_of(kernel).starts_with("epi_tem_fused_");
}

NumberType glu_type(const trace::Trace& trace, EventId op) {
  const Inputs inputs = op_inputs(trace, op);
  const OpInput* gate = tensor(inputs, 1);
  return gate == nullptr ? NumberType::kUnknown : names::cpp_type(gate->type);
}

// The inputs are x, gate, up (none if gate holds both), down.
std::optional<GemmShape> gemm_shape(const trace::Trace& trace, EventId op, EventId kernel) {
  if (!is_glu_kernel(trace, op, kernel)) return gemm_shape(trace, op);
  const Inputs inputs = op_inputs(trace, op);
  const OpInput* down = tensor(inputs, 3);
  auto gate_up = linear_gemm(tensor(inputs, 0), tensor(inputs, 1));
  if (!gate_up || down == nullptr || down->dims.size() != 2) return std::nullopt;
  gate_up->n = 2 * down->dims[1];
  const bool multiplies_gate = trace.name_of(kernel).find("_mul_") != std::string_view::npos;
  return multiplies_gate ? *gate_up : GemmShape{1, gate_up->m, down->dims[0], down->dims[1]};
}

// The hidden activations are half as wide as gate and up.
std::optional<MovedBytes> op_bytes(const trace::Trace& trace, EventId op, EventId kernel) {
  if (!is_glu_kernel(trace, op, kernel)) return op_bytes(trace, op);
  const auto gemm = gemm_shape(trace, op, kernel);
  if (!gemm) return std::nullopt;
  const Inputs inputs = op_inputs(trace, op);
  const bool is_gate_up = gemm->k == inputs[0].dims.back() && gemm->n == 2 * inputs[3].dims[1];
  const auto elements = [](int64_t rows, int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
  };
  const double written = elements(gemm->m, is_gate_up ? gemm->n / 2 : gemm->n);
  const double read = elements(gemm->m, gemm->k) + elements(gemm->n, gemm->k);
  return MovedBytes{(read + written) * static_cast<double>(inputs[1].element_bytes), false};
}

std::optional<MovedBytes> op_bytes(const trace::Trace& trace, EventId op) {
  const std::string_view name = trace.name_of(op);
  const std::string_view plain = plain_op(name);
  const Inputs inputs = op_inputs(trace, op);
  const bool any = std::any_of(inputs.begin(), inputs.end(),
                               [](const OpInput& input) { return input.is_tensor(); });
  if (!any) return std::nullopt;
  if (const auto gemm = gemm_of(name, inputs)) {
    return gemm_bytes(name, inputs, *gemm);
  }
  if (!name.starts_with("aten::")) return MovedBytes{sum_of_inputs(inputs), true};
  if (is_pointwise(plain)) return MovedBytes{pointwise_bytes(inputs, false), false};
  if (is_one_of(kComparisons, plain)) return MovedBytes{pointwise_bytes(inputs, true), false};
  if (is_one_of(kRowWise, plain)) {
    return MovedBytes{sum_of_inputs(inputs) + inputs[0].stored_bytes(), false};
  }
  if (plain == "fill" || plain == "zero") return MovedBytes{sum_of_inputs(inputs, 1), false};
  if (plain == "copy" && inputs.size() > 1) return MovedBytes{sum_of_inputs(inputs, 2), false};
  // Lower bound: every input is read once.
  return MovedBytes{sum_of_inputs(inputs), true};
}

std::optional<double> recorded_number(const trace::Trace& trace, EventId work,
                                      std::string_view key) {
  const auto token = trace::find_value(trace.args_of(work), key);
  const auto value = token ? trace::parse_integer_token(*token) : std::nullopt;
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<MovedBytes> moved_bytes(const trace::Trace& trace, const trace::Links& links,
                                      std::span<const EventId> work) {
  MovedBytes sum;
  // Bytes of copies and memsets alone do not describe the kernels beside them.
  bool known = std::none_of(work.begin(), work.end(),
                            [&](EventId id) { return trace.category[id] == Category::kKernel; });
  known = known && !work.empty();
  std::unordered_set<EventId> counted;  // an operator may launch several kernels
  for (const EventId id : work) {
    const EventId op = links.op[id];
    if (const auto recorded = recorded_number(trace, id, "bytes")) {
      sum.bytes += *recorded;
      known |= trace.category[id] == Category::kKernel;
      continue;
    }
    if (op != kNoEvent && !counted.insert(op).second) continue;
    const auto moved = op == kNoEvent ? std::nullopt : op_bytes(trace, op);
    if (!moved) {
      sum.at_least = true;
      continue;
    }
    sum.bytes += moved->bytes;
    sum.at_least |= moved->at_least;
    known = true;
  }
  return known ? std::optional(sum) : std::nullopt;
}

std::string size_signature(const trace::Trace& trace, EventId op) {
  if (const auto gemm = gemm_shape(trace, op)) {
    return fmt::format("{}x{}x{}x{}", gemm->batch, gemm->m, gemm->n, gemm->k);
  }
  std::string out;
  for (const OpInput& input : op_inputs(trace, op)) {
    if (input.is_tensor()) out += fmt::format("[{}]", join(input.dims, ","));
  }
  return out;
}

}  // namespace epi::analysis
