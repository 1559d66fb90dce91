// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/cost/op_result.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

using Inputs = std::vector<OpInput>;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

double count_of(const std::vector<int64_t>& dims) {
  double count = 1;
  for (const int64_t size : dims) count *= static_cast<double>(std::max<int64_t>(size, 0));
  return count;
}

TensorSize size_of(const OpInput& input) {
  return {std::max(0.0, input.stored_elements()), input.element_bytes};
}

// Sizes of a list of tensors. The trace does not record their type, so the most common element size
// is assumed.
std::vector<TensorSize> list_sizes(std::string_view json_dims) {
  constexpr int64_t kTypicalBytes = 2;
  std::vector<TensorSize> sizes;
  for (const std::string_view item : trace::array_items(json_dims)) {
    if (item.empty() || item.front() != '[') return {};
    sizes.push_back({count_of(integers(item)), kTypicalBytes});
  }
  return sizes;
}

// The dimensions of a reduction, from "[-1]". An empty list means all of them.
std::vector<int64_t> reduced_dims(std::string_view args, size_t place, size_t rank) {
  const auto concrete = trace::array_items(trace::find_value(args, "Concrete Inputs").value_or(""));
  std::vector<int64_t> dims;
  if (place < concrete.size() && concrete[place].size() > 2) {
    const std::string_view text = concrete[place].substr(1, concrete[place].size() - 2);
    dims = integers(text.starts_with('[') ? text : std::string_view());
  }
  for (int64_t& dim : dims) dim = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
  return dims;
}

void reduce(std::string_view args, const OpInput& input, OpFlow& flow) {
  const size_t rank = input.dims.size();
  const std::vector<int64_t> dims = reduced_dims(args, 1, rank);
  double row = 1;
  bool keeps_last = false;
  for (size_t i = 0; i < rank; ++i) {
    const bool reduced =
        dims.empty() || std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (reduced) row *= static_cast<double>(input.dims[i]);
    if (i + 1 == rank) keeps_last = !reduced && input.dims[i] > 1;
  }
  flow.row = row;
  flow.over_columns = keeps_last;
  flow.result = {row > 0 ? count_of(input.dims) / row : 0, input.element_bytes};
}

// Operators whose result has the shape and type of their first input.
bool keeps_first_shape(std::string_view op) {
  return is_one_of(
      op, {"_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data",
           "native_layer_norm", "_fused_rms_norm", "native_layer_norm_backward", "native_dropout"});
}

bool works_on_rows(std::string_view op) { return keeps_first_shape(op) && op != "native_dropout"; }

bool is_reduction(std::string_view op) {
  return is_one_of(op, {"sum", "mean", "amax", "amin", "max", "min", "prod", "var", "std", "norm",
                        "linalg_vector_norm", "logsumexp", "any", "all", "argmax", "argmin"});
}

// Gathers read as many bytes of the table as they write.
bool gathers(std::string_view op) { return is_one_of(op, {"index_select", "gather", "embedding"}); }

void gather(std::string_view op, const Inputs& inputs, OpFlow& flow) {
  const OpInput& table = inputs[0];
  const size_t place = op == "embedding" ? 1 : 2;
  if (place >= inputs.size() || !inputs[place].is_tensor()) return;
  const double rows = inputs[place].stored_elements();
  const bool by_row = op != "gather" && !table.dims.empty() && table.dims[0] > 0;
  const double width = by_row ? count_of(table.dims) / static_cast<double>(table.dims[0]) : 1;
  flow.result = {rows * width, table.element_bytes};
  flow.reads = {flow.result, size_of(inputs[place])};
}

// Leaves out the preallocated result that compiled code passes in, and a matrix that is read
// transposed, which is a linear layer's weight.
std::vector<TensorSize> gemm_reads(std::string_view op, const Inputs& inputs) {
  const bool adds = op.starts_with("add") || op == "baddbmm";
  const size_t last = adds ? 2 : 1;
  std::vector<TensorSize> reads;
  for (size_t i = 0; i <= std::min(last, inputs.size() - 1); ++i) {
    const auto& strides = inputs[i].strides;
    const bool is_weight = i == last && strides.size() == 2 && strides[0] == 1;
    if (inputs[i].is_tensor() && !is_weight) reads.push_back(size_of(inputs[i]));
  }
  return reads;
}

}  // namespace

OpFlow op_flow(const trace::Trace& trace, trace::EventId op) {
  const std::string_view name = trace.name_of(op);
  const std::string_view plain = plain_op(name);
  const std::string_view args = trace.args_of(op);
  const Inputs inputs = op_inputs(trace, op);
  OpFlow flow;
  if (plain == "cat" || plain == "stack") {
    const auto dims = trace::array_items(trace::find_value(args, "Input Dims").value_or(""));
    flow.reads = list_sizes(dims.empty() ? "" : dims[0]);
    for (const TensorSize& one : flow.reads) flow.result.elements += one.elements;
    flow.result.element_bytes = flow.reads.empty() ? 0 : flow.reads[0].element_bytes;
    return flow;
  }
  for (const OpInput& input : inputs) {
    if (input.is_tensor()) flow.reads.push_back(size_of(input));
  }
  if (flow.reads.empty()) return flow;
  if (const auto gemm = gemm_shape(trace, op)) {
    flow.result = {static_cast<double>(gemm->batch) * static_cast<double>(gemm->m) *
                       static_cast<double>(gemm->n),
                   inputs[1].element_bytes};
    flow.reads = gemm_reads(plain, inputs);
    return flow;
  }
  const OpInput& first = inputs[0];
  if (plain == "fill" || plain == "zero") {
    flow.result = flow.reads[0];
    flow.reads.clear();
  } else if (plain == "copy" && flow.reads.size() > 1) {
    flow.result = flow.reads[0];
    flow.reads = {flow.reads[1]};
  } else if (gathers(plain) && first.is_tensor()) {
    gather(plain, inputs, flow);
  } else if (plain == "nll_loss_forward") {
    flow.result = {1, first.element_bytes};
  } else if (plain == "nll_loss_backward" && flow.reads.size() > 1) {
    flow.result = flow.reads[1];
    flow.reads.resize(1);
  } else if (is_reduction(plain) && first.is_tensor()) {
    reduce(args, first, flow);
  } else if (keeps_first_shape(plain) && first.is_tensor()) {
    flow.result = flow.reads[0];
    if (works_on_rows(plain) && !first.dims.empty()) {
      flow.row = static_cast<double>(first.dims.back());
    }
  } else if (name.find("attention") != std::string_view::npos) {
    flow.result = flow.reads[0];
  } else {
    flow.result = broadcast_size(inputs);
    if (is_one_of(plain, {"eq", "ne", "lt", "le", "gt", "ge"})) flow.result.element_bytes = 1;
  }
  return flow;
}

}  // namespace epi::analysis
