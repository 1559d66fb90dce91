// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/tensor_flow.h"
#include "epilogue/analysis/index/enclosing.h"

#include <algorithm>
#include <unordered_map>

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

// Kernels that a compiler for pointwise operators and reductions can generate. Generated or
// hand-fused kernels are excluded, such as ours with the prefix "epi_".
bool is_generatable(const DecodedName& name, std::string_view text) {
  const bool eager = name.library == Library::kAten ||
                     (name.library == Library::kEpilogue && !text.starts_with("epi_"));
  return eager && is_generated_kind(name.kind);
}

// Operators that scatter, or whose result size depends on input values.
bool is_never_fused(std::string_view op) {
  const bool scatters = op.find("embedding") != std::string_view::npos &&
                        op.find("backward") != std::string_view::npos;
  // Multi-tensor operators, as used by optimizers.
  const bool many = op.starts_with("aten::_foreach") || op.starts_with("aten::_fused");
  return scatters || many || op == "aten::index" || op == "aten::nonzero" ||
         op == "aten::masked_select";
}

Phase phase_of(const TraceIndex& index, EventId op) {
  constexpr std::string_view kBackward = "autograd::engine::evaluate_function";
  const EventId outer = find_enclosing(index, op, [&](EventId id) {
    const std::string_view name = index.trace.name_of(id);
    return name.starts_with(kBackward) || name.starts_with("Optimizer.");
  });
  if (outer == kNoEvent) return Phase::kForward;
  const bool backward = index.trace.name_of(outer).starts_with(kBackward);
  return backward ? Phase::kBackward : Phase::kOptimizer;
}

// Element width of a concatenation, from the kernel's name. The trace does not record the types of
// a list of tensors.
int64_t concat_width(std::string_view kernel) {
  constexpr std::string_view kMark = "OpaqueType<";
  const size_t at = kernel.find(kMark);
  if (at == std::string_view::npos || at + kMark.size() >= kernel.size()) return 0;
  const char digit = kernel[at + kMark.size()];
  return digit >= '1' && digit <= '8' ? digit - '0' : 0;
}

void set_width(int64_t width, FlowNode& node) {
  if (width == 0) return;
  node.result.element_bytes = width;
  for (FlowRead& read : node.reads) read.size.element_bytes = width;
}

std::vector<FlowNode> make_nodes(const TraceIndex& index, std::span<const EventId> work) {
  const trace::Trace& trace = index.trace;
  std::vector<FlowNode> nodes;
  for (const EventId id : work) {
    const EventId op = index.links.op[id];
    if (nodes.empty() || op == kNoEvent || nodes.back().op != op) {
      nodes.emplace_back();
      nodes.back().op = op;
      nodes.back().can_join = op != kNoEvent && !is_never_fused(trace.name_of(op));
    }
    FlowNode& node = nodes.back();
    const DecodedName& name = index.names[trace.name[id]];
    const bool longest = std::all_of(node.work.begin(), node.work.end(), [&](EventId other) {
      return trace.dur_ns[other] < trace.dur_ns[id];
    });
    if (longest) node.kind = name.kind;
    node.can_join &=
        trace.category[id] == Category::kGpuMemset || is_generatable(name, trace.name_of(id));
    node.work.push_back(id);
    node.device_ns += trace.dur_ns[id];
  }
  for (FlowNode& node : nodes) {
    if (node.op == kNoEvent) continue;
    const OpFlow flow = op_flow(trace, node.op);
    for (const TensorSize& size : flow.reads) node.reads.push_back({size, kNoNode});
    node.result = flow.result;
    node.row = flow.row;
    node.over_columns = flow.over_columns;
    node.phase = phase_of(index, node.op);
    const std::string_view op = plain_op(trace.name_of(node.op));
    if (op == "cat" || op == "stack") set_width(concat_width(trace.name_of(node.work[0])), node);
  }
  return nodes;
}

// Finds the producers of what nodes read, node by node.
class Matcher {
 public:
  explicit Matcher(const TraceIndex& index, std::vector<FlowNode>& nodes)
      : index_(index), nodes_(nodes) {}

  void match_all() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (FlowRead& read : nodes_[i].reads) {
        if (read.size.elements <= 1) continue;
        read.maker = maker_of(i, read.size);
        if (read.maker == kNoNode) continue;
        nodes_[read.maker].readers.push_back(i);
        const FlowNode& maker = nodes_[read.maker];
        nodes_[i].depth = std::max(nodes_[i].depth, maker.depth + (maker.can_join ? 0 : 1));
      }
      if (nodes_[i].result.elements > 1) {
        by_elements_[nodes_[i].result.elements].push_back(i);
        if (!nodes_[i].can_join) gemms_.push_back(i);
      }
    }
  }

 private:
  // Prefers a result without readers, then the residual stream of a transformer (for sums), then
  // the newest result of this size or a larger one that contains it.
  size_t maker_of(size_t reader, const TensorSize& size) const {
    size_t newest = kNoNode;
    size_t sum = kNoNode;
    const auto same_size = by_elements_.find(size.elements);
    if (same_size != by_elements_.end()) {
      const auto last = lookback_end(same_size->second);
      for (auto at = same_size->second.rbegin(); at != last; ++at) {
        const FlowNode& maker = nodes_[*at];
        if (maker.result.element_bytes != size.element_bytes && size.element_bytes != 0) continue;
        if (already_reads(reader, *at)) continue;
        if (maker.readers.empty()) return *at;
        if (newest == kNoNode) newest = *at;
        if (sum == kNoNode && is_sum(maker)) sum = *at;
      }
    }
    if (is_sum(nodes_[reader]) && sum != kNoNode) return sum;
    // GEMMs read whole matrices. Their weights would be mistaken for parts.
    const size_t whole = is_gemm(nodes_[reader].kind) ? kNoNode : larger_maker(size);
    if (whole == kNoNode) return newest;
    return newest == kNoNode || whole > newest ? whole : newest;
  }

  // Limits how far to look back. A step may have a hundred thousand nodes.
  static std::vector<size_t>::const_reverse_iterator lookback_end(const std::vector<size_t>& list) {
    constexpr size_t kMaxLookback = 64;
    return list.rbegin() + static_cast<std::ptrdiff_t>(std::min(list.size(), kMaxLookback));
  }

  bool already_reads(size_t reader, size_t maker) const {
    const auto& reads = nodes_[reader].reads;
    return std::any_of(reads.begin(), reads.end(),
                       [&](const FlowRead& read) { return read.maker == maker; });
  }

  bool is_sum(const FlowNode& node) const {
    return node.op != kNoEvent && plain_op(index_.trace.name_of(node.op)) == "add";
  }

  // The newest GEMM whose result this can be a part of, such as a third of "qkv".
  size_t larger_maker(const TensorSize& size) const {
    constexpr double kMaxParts = 8;
    const auto last = lookback_end(gemms_);
    for (auto at = gemms_.rbegin(); at != last; ++at) {
      const TensorSize& result = nodes_[*at].result;
      const double parts = result.elements / size.elements;
      const bool whole_parts = parts > 1 && parts <= kMaxParts &&
                               parts == static_cast<double>(static_cast<int64_t>(parts));
      if (whole_parts && result.element_bytes == size.element_bytes) return *at;
    }
    return kNoNode;
  }

  const TraceIndex& index_;
  std::vector<FlowNode>& nodes_;
  std::unordered_map<double, std::vector<size_t>> by_elements_;
  std::vector<size_t> gemms_;
};

}  // namespace

std::vector<FlowNode> tensor_flow(const TraceIndex& index, std::span<const EventId> work) {
  std::vector<FlowNode> nodes = make_nodes(index, work);
  Matcher(index, nodes).match_all();
  return nodes;
}

}  // namespace epi::analysis
