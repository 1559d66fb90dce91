// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/op_inputs.h"

#include <algorithm>
#include <utility>

#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

int64_t element_bytes(std::string_view type) {
  static constexpr std::pair<std::string_view, int64_t> kTypes[] = {{"c10::BFloat16", 2},
                                                                    {"c10::Half", 2},
                                                                    {"float", 4},
                                                                    {"double", 8},
                                                                    {"long int", 8},
                                                                    {"long", 8},
                                                                    {"int", 4},
                                                                    {"short int", 2},
                                                                    {"short", 2},
                                                                    {"signed char", 1},
                                                                    {"unsigned char", 1},
                                                                    {"bool", 1},
                                                                    {"c10::Float8_e4m3fn", 1},
                                                                    {"c10::Float8_e5m2", 1},
                                                                    {"c10::complex<float>", 8},
                                                                    {"c10::complex<double>", 16}};
  for (const auto& [name, size] : kTypes) {
    if (name == type) return size;
  }
  return 0;
}

std::string_view unquoted(std::string_view token) {
  const bool quoted = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  return quoted ? token.substr(1, token.size() - 2) : token;
}

}  // namespace

std::vector<int64_t> integers(std::string_view json_array) {
  std::vector<int64_t> numbers;
  for (const std::string_view item : trace::array_items(json_array)) {
    const auto number = trace::parse_integer_token(item);
    if (!number) break;
    numbers.push_back(*number);
  }
  return numbers;
}

std::string_view plain_op(std::string_view name) {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  if (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  return name;
}

bool is_view_op(std::string_view name) {
  static constexpr std::string_view kViews[] = {
      "aten::_unsafe_view", "aten::as_strided", "aten::expand",  "aten::permute", "aten::reshape",
      "aten::select",       "aten::slice",      "aten::squeeze", "aten::t",       "aten::transpose",
      "aten::unsqueeze",    "aten::view"};
  return std::find(std::begin(kViews), std::end(kViews), name) != std::end(kViews);
}

double OpInput::stored_elements() const {
  double count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool expanded = i < strides.size() && strides[i] == 0 && dims[i] > 1;
    if (!expanded) count *= static_cast<double>(dims[i]);
  }
  return count;
}

double OpInput::stored_bytes() const {
  return stored_elements() * static_cast<double>(element_bytes);
}

TensorSize broadcast_size(const std::vector<OpInput>& inputs) {
  std::vector<int64_t> shape;
  int64_t widest = 0;
  int64_t widest_scalar = 0;
  for (const OpInput& input : inputs) {
    if (!input.is_tensor()) continue;
    int64_t& width = input.dims.empty() ? widest_scalar : widest;
    width = std::max(width, input.element_bytes);
    if (input.dims.size() > shape.size()) {
      shape.insert(shape.begin(), input.dims.size() - shape.size(), 1);
    }
    const size_t skip = shape.size() - input.dims.size();
    for (size_t i = 0; i < input.dims.size(); ++i) {
      shape[skip + i] = input.dims[i] == 0 ? 0 : std::max(shape[skip + i], input.dims[i]);
    }
  }
  double count = 1;
  for (const int64_t size : shape) count *= static_cast<double>(size);
  return {count, widest == 0 ? widest_scalar : widest};
}

std::vector<OpInput> op_inputs(const trace::Trace& trace, trace::EventId op) {
  const std::string_view args = trace.args_of(op);
  const auto dims = trace::array_items(trace::find_value(args, "Input Dims").value_or(""));
  const auto types = trace::array_items(trace::find_value(args, "Input type").value_or(""));
  const auto strides = trace::array_items(trace::find_value(args, "Input Strides").value_or(""));
  std::vector<OpInput> inputs(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    inputs[i].dims = integers(dims[i]);
    if (i < strides.size()) inputs[i].strides = integers(strides[i]);
    if (i < types.size()) inputs[i].type = unquoted(types[i]);
    inputs[i].element_bytes = element_bytes(inputs[i].type);
  }
  return inputs;
}

}  // namespace epi::analysis
