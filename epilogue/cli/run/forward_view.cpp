// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/forward_view.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "epilogue/base/parse_integer.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/op_tree.h"

namespace epi::cli {
namespace {

using trace::EventId;

std::string without_spaces(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

// "[64, 32]" and "[32, 1]" give "[64,32]/(32,1)".
std::string layout_text(std::string_view dims, std::string_view strides) {
  std::string steps = without_spaces(strides);
  std::replace(steps.begin(), steps.end(), '[', '(');
  std::replace(steps.begin(), steps.end(), ']', ')');
  return without_spaces(dims) + "/" + steps;
}

// The type of a tensor argument is its dtype. Scalars, lists and absent arguments are skipped.
std::vector<std::string> tensor_layouts(std::string_view args) {
  const auto list = [&](std::string_view key) {
    return trace::array_items(trace::find_value(args, key).value_or(""));
  };
  const auto types = list("Input type");
  const auto dims = list("Input Dims");
  const auto strides = list("Input Strides");
  std::vector<std::string> layouts;
  for (size_t i = 0; i < types.size(); ++i) {
    const bool is_tensor = types[i] != "\"\"" && types[i] != "\"Scalar\"" &&
                           types[i] != "\"ScalarList\"" && types[i] != "\"TensorList\"";
    if (is_tensor) layouts.push_back(layout_text(dims[i], strides[i]));
  }
  return layouts;
}

int64_t number_arg(std::string_view args, std::string_view key) {
  return parse_integer(trace::find_value(args, key).value_or("0")).value_or(0);
}

// Kernels by the external id of their operator, in execution order.
std::multimap<int64_t, EventId> kernels_by_op(const trace::Trace& trace) {
  std::multimap<int64_t, EventId> kernels;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] == trace::Category::kKernel) kernels.emplace(trace.external_id[id], id);
  }
  return kernels;
}

// Start time of each launch by correlation id. CPU kernels have no launch.
std::unordered_map<int64_t, int64_t> launch_times(const trace::Trace& trace) {
  std::unordered_map<int64_t, int64_t> times;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace::is_call(trace.category[id])) times[trace.correlation[id]] = trace.ts_ns[id];
  }
  return times;
}

bool is_shown(trace::Category category) {
  return category == trace::Category::kCpuOp || category == trace::Category::kUserAnnotation;
}

}  // namespace

std::string_view short_name(std::string_view kernel) {
  constexpr std::string_view kReturnType = "void ";
  if (!kernel.starts_with(kReturnType) || !kernel.ends_with(')')) return kernel;
  int depth = 0;
  for (size_t i = kernel.size(); i-- > 0;) {
    if (kernel[i] == ')') ++depth;
    if (kernel[i] == '(' && --depth == 0) {
      return kernel.substr(kReturnType.size(), i - kReturnType.size());
    }
  }
  return kernel;
}

std::vector<ForwardOp> first_forward(const trace::Trace& trace, std::string_view annotation) {
  const trace::OpTree tree = trace::build_op_tree(trace);
  const auto kernels = kernels_by_op(trace);
  const auto launches = launch_times(trace);
  std::vector<ForwardOp> ops;
  std::unordered_map<EventId, int> depths;  // of the ranges inside the annotation
  for (const EventId id : tree.order) {
    if (depths.empty()) {
      if (trace.name_of(id) == annotation) depths[id] = -1;
      continue;
    }
    const auto parent = depths.find(tree.parent[id]);
    if (parent == depths.end() || !is_shown(trace.category[id])) continue;
    const std::string_view args = trace.args_of(id);
    ForwardOp op{std::string(trace.name_of(id)),
                 trace.ts_ns[id],
                 parent->second + 1,
                 tensor_layouts(args),
                 {}};
    const auto [first, last] = kernels.equal_range(trace.external_id[id]);
    for (auto it = first; it != last; ++it) {
      const std::string_view kernel_args = trace.args_of(it->second);
      const auto launch = launches.find(trace.correlation[it->second]);
      op.kernels.push_back({std::string(trace.name_of(it->second)),
                            number_arg(kernel_args, "bytes"), number_arg(kernel_args, "flops"),
                            launch == launches.end() ? trace.ts_ns[it->second] : launch->second,
                            trace.dur_ns[it->second]});
    }
    depths[id] = op.depth;
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace epi::cli
