// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/fusion_estimate.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

using trace::EventId;

// Share of the memory bandwidth that pointwise kernels reach, if the trace does not show it.
constexpr double kTypicalShare = 0.88;
// Observed range of generated kernels, relative to ATen's vectorized kernels.
constexpr double kSlowGenerated = 0.66;
constexpr double kFastGenerated = 1.06;
// Upper limit for a fused kernel relative to its longest part, if bytes do not predict its time.
constexpr double kSlowFused = 1.25;
// A single kernel is only replaced if generated code is much faster.
constexpr double kMaxReplacedShare = 0.75;
// Smaller kernels are served by the cache and do not show the memory bandwidth.
constexpr double kMinRateBytes = 64e6;
// Kernels with more expensive functions may be compute-bound.
constexpr double kCheapFunction = 4;

double bytes_of(const FlowNode& node) {
  double bytes = node.result.bytes();
  for (const FlowRead& read : node.reads) bytes += read.size.bytes();
  return bytes;
}

GpuRates rates_of(const TraceIndex& index, const std::vector<FlowNode>& nodes, bool& measured) {
  std::vector<double> reached;
  double fastest = 0;
  for (const FlowNode& node : nodes) {
    if (!node.can_join || node.work.size() != 1 || node.device_ns <= 0) continue;
    const double rate = bytes_of(node) / static_cast<double>(node.device_ns);
    fastest = std::max(fastest, rate);
    const DecodedName& name = index.names[index.trace.name[node.work[0]]];
    const std::string_view op = plain_op(index.trace.name_of(node.op));
    const bool is_representative = node.kind == Kind::kPointwise && name.vector_width > 1 &&
                                   function_cost(op, "") <= kCheapFunction;
    if (is_representative && bytes_of(node) >= kMinRateBytes) reached.push_back(rate);
  }
  const auto peaks = gpu_peaks(device_name(index.trace));
  GpuRates rates;
  if (peaks) rates.slots_per_ns = peaks->f32 * 1000 / 2;
  measured = !reached.empty() || !peaks;
  if (!reached.empty()) {
    rates.bytes_per_ns = median(reached);
  } else {
    rates.bytes_per_ns = peaks ? peaks->memory_tb_s * 1000 * kTypicalShare : fastest;
  }
  return rates;
}

// Disjoint sets of nodes that are fused.
class DisjointSets {
 public:
  explicit DisjointSets(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t find(size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void unite(size_t a, size_t b) { parent_[find(b)] = find(a); }

 private:
  std::vector<size_t> parent_;
};

// A group of nodes, and the cost of the kernel that would replace it.
class GroupCost {
 public:
  GroupCost(const TraceIndex& index, const std::vector<FlowNode>& nodes, DisjointSets& sets,
            const std::vector<size_t>& members)
      : index_(index), nodes_(nodes), sets_(sets), members_(members) {
    for (const size_t member : members) add(nodes[member]);
    add_reads();
    add_writes();
  }

  FusionGroup result(const GpuRates& rates) const {
    FusionGroup group = group_;
    const GpuRates slow = {rates.bytes_per_ns * kSlowGenerated,
                           rates.slots_per_ns * kSlowGenerated};
    const GpuRates fast = {rates.bytes_per_ns * kFastGenerated,
                           rates.slots_per_ns * kFastGenerated};
    const double more_kernels = static_cast<double>(group.fused_kernels - 1);
    const auto total_ns = [&](double uncertain_share, const GpuRates& at) {
      GeneratedKernel kernel = kernel_;
      kernel.bytes += uncertain_share * uncertain_bytes_;
      return generated_ns(kernel, at) + more_kernels * generated_ns({}, at);
    };
    group.fused_bytes = kernel_.bytes + uncertain_bytes_ / 2;
    group.fused_ns = total_ns(0.5, rates);
    // If fixed costs dominate, bytes predict little. The fused kernel may then take somewhat longer
    // than the longest part did.
    double slow_ns = total_ns(1, slow);
    const bool is_small = slow_ns < 2 * generated_ns({}, slow);
    if (is_small && members_.size() > 1) slow_ns = std::max(slow_ns, kSlowFused * longest_ns_);
    group.saving_ns = {group.eager_ns - slow_ns, group.eager_ns - group.fused_ns,
                       group.eager_ns - std::min(total_ns(0, fast), as_fastest_part_ns())};
    if (!group.sizes_known) without_sizes(group);
    return group;
  }

 private:
  void add(const FlowNode& node) {
    group_.work.insert(group_.work.end(), node.work.begin(), node.work.end());
    for (const EventId id : node.work) {
      group_.kernels += index_.trace.category[id] == trace::Category::kKernel ? 1 : 0;
    }
    const std::string_view op = plain_op(index_.trace.name_of(node.op));
    group_.ops.emplace_back(op);
    group_.eager_ns += static_cast<double>(node.device_ns);
    group_.eager_bytes += bytes_of(node);
    group_.sizes_known &= node.has_sizes();
    longest_ns_ = std::max(longest_ns_, static_cast<double>(node.device_ns));
    if (node.device_ns > 0) {
      fastest_ = std::max(fastest_, bytes_of(node) / static_cast<double>(node.device_ns));
    }
    double elements = node.result.elements;
    for (const FlowRead& read : node.reads) elements = std::max(elements, read.size.elements);
    kernel_.elements = std::max(kernel_.elements, elements);
    // Small operands are recomputed for each element that reads them, which is not counted.
    kernel_.functions +=
        function_cost(op, is_tanh_gelu(index_.trace.name_of(node.work[0])) ? "tanh" : "");
    kernel_.long_row_ns += elements * long_row_cost(node.kind, node.over_columns ? 0 : node.row);
    // A sum over columns needs another loop order, and a sum over all elements needs two kernels.
    const bool is_whole = node.row > 0 && node.result.elements <= 1 && elements > 1e5;
    if ((node.over_columns || is_whole) && members_.size() > 1) {
      ++group_.fused_kernels;
      kernel_.bytes += node.reads.empty() ? 0 : node.reads[0].size.bytes();
    }
  }

  bool is_inside(size_t node) const { return sets_.find(node) == sets_.find(members_[0]); }

  // Counts each tensor once: per producer the largest read, and for inputs from outside as many of
  // one size as a single operator reads. If an operator combines an outside input with an inside
  // result of the same size, such as an MLP's gate or a residual, the input may be a different
  // tensor. These bytes are uncertain.
  void add_reads() {
    using Size = std::pair<double, int64_t>;
    struct Outside {
      int64_t certain = 0;
      int64_t all = 0;
      int64_t combined = 0;
    };
    std::map<size_t, double> by_maker;
    std::map<Size, Outside> outside_reads;
    for (const size_t member : members_) {
      std::map<Size, int64_t> here;
      for (const FlowRead& read : nodes_[member].reads) {
        if (read.maker == kNoNode) {
          ++here[{read.size.elements, read.size.element_bytes}];
        } else if (!is_inside(read.maker)) {
          double& bytes = by_maker[read.maker];
          bytes = std::max(bytes, read.size.bytes());
        }
      }
      for (const auto& [size, count] : here) {
        Outside& outside = outside_reads[size];
        outside.certain = std::max(outside.certain, count);
        outside.all += count;
        if (reads_inside(nodes_[member], size.first)) outside.combined += count;
      }
    }
    for (const auto& [maker, bytes] : by_maker) kernel_.bytes += bytes;
    for (const auto& [size, outside] : outside_reads) {
      const double bytes = size.first * static_cast<double>(size.second);
      const int64_t more = std::min(outside.combined, outside.all - outside.certain);
      kernel_.bytes += bytes * static_cast<double>(outside.certain);
      uncertain_bytes_ += bytes * static_cast<double>(more);
    }
  }

  bool reads_inside(const FlowNode& node, double elements) const {
    return std::any_of(node.reads.begin(), node.reads.end(), [&](const FlowRead& read) {
      return read.maker != kNoNode && is_inside(read.maker) && read.size.elements == elements;
    });
  }

  // Counts results that are read outside the group, and results that are never read: the step's
  // outputs. A sum that is read only inside may also be returned, as residual streams are.
  void add_writes() {
    for (const size_t member : members_) {
      const FlowNode& node = nodes_[member];
      const bool is_read_outside = std::any_of(node.readers.begin(), node.readers.end(),
                                               [&](size_t reader) { return !is_inside(reader); });
      const bool is_sum = plain_op(index_.trace.name_of(node.op)) == "add";
      if (node.readers.empty() || is_read_outside) {
        kernel_.bytes += node.result.bytes();
      } else if (is_sum) {
        uncertain_bytes_ += node.result.bytes();
      }
    }
  }

  // Tensors that stay in a cache move faster than the memory's bandwidth. The fused kernel may
  // reach the rate of its fastest part.
  double as_fastest_part_ns() const {
    return fastest_ > 0 ? kernel_.bytes / (fastest_ * kFastGenerated) : group_.eager_ns;
  }

  // Without shapes: assumes that the fused kernel takes as long as the longest part, if the parts
  // depend on each other at all.
  void without_sizes(FusionGroup& group) const {
    group.fused_ns = std::min(group.eager_ns, kSlowFused * longest_ns_);
    group.fused_bytes = group.eager_bytes = 0;
    group.saving_ns = {0, group.eager_ns - group.fused_ns, group.eager_ns - longest_ns_};
  }

  const TraceIndex& index_;
  const std::vector<FlowNode>& nodes_;
  DisjointSets& sets_;
  const std::vector<size_t>& members_;
  FusionGroup group_;
  GeneratedKernel kernel_;
  double uncertain_bytes_ = 0;
  double longest_ns_ = 0;
  double fastest_ = 0;  // highest rate of the parts, bytes per nanosecond
};

bool is_gain(const FusionGroup& group, size_t nodes) {
  if (nodes == 1) {
    return group.sizes_known && group.fused_ns < kMaxReplacedShare * group.eager_ns;
  }
  return group.saving_ns.likely > 0;
}

// Merges groups of the same operators with the same bytes, as in the layers of a model.
using GroupKey = std::pair<std::vector<std::string>, double>;
void add_group(FusionGroup group, std::map<GroupKey, FusionGroup>& groups) {
  const GroupKey key{group.ops, group.fused_bytes};
  const auto place = groups.find(key);
  if (place == groups.end()) {
    groups.emplace(key, std::move(group));
    return;
  }
  FusionGroup* merged = &place->second;
  ++merged->count;
  merged->kernels += group.kernels;
  merged->eager_ns += group.eager_ns;
  merged->fused_ns += group.fused_ns;
  merged->saving_ns.add(group.saving_ns);
  merged->work.insert(merged->work.end(), group.work.begin(), group.work.end());
}

}  // namespace

FusionEstimate estimate_fusion(const TraceIndex& index, std::span<const EventId> work) {
  const std::vector<FlowNode> nodes = tensor_flow(index, work);
  FusionEstimate estimate;
  estimate.rates = rates_of(index, nodes, estimate.rates_measured);
  DisjointSets sets(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const FlowRead& read : nodes[i].reads) {
      if (read.maker == kNoNode || !nodes[i].can_join || !nodes[read.maker].can_join) continue;
      const FlowNode& maker = nodes[read.maker];
      if (nodes[i].depth == maker.depth && nodes[i].phase == maker.phase) {
        sets.unite(read.maker, i);
      }
    }
    // Without shapes, consecutive nodes are assumed to belong together.
    const bool without_shapes = i > 0 && nodes[i].can_join && nodes[i - 1].can_join &&
                                !nodes[i].has_sizes() && !nodes[i - 1].has_sizes();
    if (without_shapes && nodes[i].phase == nodes[i - 1].phase) sets.unite(i - 1, i);
  }
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const EventId id : nodes[i].work) {
      estimate.kernels += index.trace.category[id] == trace::Category::kKernel ? 1 : 0;
    }
    if (nodes[i].can_join) {
      members[sets.find(i)].push_back(i);
    }
  }
  estimate.kernels_after = estimate.kernels;
  if (estimate.rates.bytes_per_ns <= 0) return estimate;
  std::map<GroupKey, FusionGroup> groups;
  for (const auto& [root, list] : members) {
    FusionGroup group = GroupCost(index, nodes, sets, list).result(estimate.rates);
    if (!is_gain(group, list.size())) continue;
    estimate.kernels_after -= group.kernels - group.fused_kernels;
    estimate.saving_ns.add(group.saving_ns);
    add_group(std::move(group), groups);
  }
  for (auto& [key, group] : groups) estimate.groups.push_back(std::move(group));
  std::stable_sort(
      estimate.groups.begin(), estimate.groups.end(),
      [](const auto& a, const auto& b) { return a.saving_ns.likely > b.saving_ns.likely; });
  find_addmms(index, nodes, estimate);
  return estimate;
}

}  // namespace epi::analysis
