// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/pytorch/pytorch_flops.h"

#include <span>

#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

using Dims = std::vector<int64_t>;

int64_t element_count(std::span<const int64_t> dims) {
  double elements = 1;
  for (const int64_t dim : dims) elements *= static_cast<double>(dim);
  // A malformed file may contain any size. Counts that no machine could compute become 0.
  constexpr double kMax = 1e18;
  return elements >= 0 && elements < kMax ? static_cast<int64_t>(elements) : 0;
}

// Two FLOPs per element of the result and of the inner dimension.
int64_t gemm(const Dims& a, const Dims& b, size_t rank) {
  if (a.size() != rank || b.size() != rank) return 0;
  const int64_t batch = rank == 3 ? a[0] : 1;
  return element_count(Dims{2, batch, a[rank - 2], a[rank - 1], b[rank - 1]});
}

// Removes quotes: Kineto writes concrete inputs as strings, "[1, 1]".
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

int64_t conv2d(const trace::Trace& trace, trace::EventId op, const std::vector<OpInput>& inputs) {
  // input, weight, bias, stride, padding, dilation, groups
  if (inputs.size() < 7 || inputs[0].dims.size() != 4 || inputs[1].dims.size() != 4) return 0;
  const auto values =
      trace::array_items(trace::find_value(trace.args_of(op), "Concrete Inputs").value_or("[]"));
  if (values.size() < 7) return 0;
  const Dims stride = integers(unquoted(values[3]));
  const Dims padding = integers(unquoted(values[4]));
  const Dims dilation = integers(unquoted(values[5]));
  const int64_t groups = parse_integer(unquoted(values[6])).value_or(0);
  if (stride.size() != 2 || padding.size() != 2 || dilation.size() != 2 || groups < 1) return 0;
  const Dims& x = inputs[0].dims;
  const Dims& w = inputs[1].dims;
  if (stride[0] < 1 || stride[1] < 1) return 0;
  constexpr int64_t kMax = 1 << 20;  // limit of a real convolution; products do not overflow
  for (const Dims& list_of_one : {stride, padding, dilation, x, w}) {
    for (const int64_t value : list_of_one) {
      if (value < 0 || value > kMax) return 0;
    }
  }
  const auto out = [&](size_t axis) {
    return (x[2 + axis] + 2 * padding[axis] - dilation[axis] * (w[2 + axis] - 1) - 1) /
               stride[axis] +
           1;
  };
  return element_count(Dims{2, x[0], out(0), out(1), w[2], w[3], x[1], w[0]}) / groups;
}

}  // namespace

int64_t pytorch_flops(const trace::Trace& trace, trace::EventId op) {
  const std::string_view name = trace.name_of(op);
  if (!name.starts_with("aten::")) return 0;
  const std::string_view plain = name.substr(6);
  const bool counted = plain == "mm" || plain == "addmm" || plain == "bmm" || plain == "baddbmm" ||
                       plain == "mul" || plain == "add" || plain == "conv2d";
  if (!counted) return 0;
  const std::vector<OpInput> inputs = op_inputs(trace, op);
  const auto dims = [&](size_t i) { return i < inputs.size() ? inputs[i].dims : Dims(); };
  if (plain == "mm") return gemm(dims(0), dims(1), 2);
  if (plain == "addmm") return gemm(dims(1), dims(2), 2);
  if (plain == "bmm") return gemm(dims(0), dims(1), 3);
  if (plain == "baddbmm") return gemm(dims(1), dims(2), 3);
  if (plain == "conv2d") return conv2d(trace, op, inputs);
  return inputs.empty() || !inputs[0].is_tensor() ? 0 : element_count(inputs[0].dims);
}

}  // namespace epi::analysis
