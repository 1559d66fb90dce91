// SPDX-License-Identifier: Apache-2.0
// Adds that read the result of a GEMM and nothing else reads it: `addmm` computes both.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "epilogue/analysis/advise/fusion_estimate.h"
#include "epilogue/analysis/index/ownership.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Remaining share of the add's time on an H200. docs/advise.md has the pairs. With a bias, the GEMM
// takes longer. A matrix is copied into the result before the GEMM accumulates into it, which takes
// about as long as the add: only a bias moves into the epilogue.
constexpr double kBiasAfter = 0.27;
constexpr double kMatrixAfter = 0.93;
constexpr double kMatrixAfterMin = 0.65;
// The gap before a kernel, which disappears with the kernel.
constexpr double kGapNs = 3000;

bool is_single_add(const TraceIndex& index, const FlowNode& node) {
  if (node.op == kNoEvent || node.kind != Kind::kPointwise || node.work.size() != 1) return false;
  const std::string_view name = index.trace.name_of(node.op);
  return name == "aten::add" || name == "aten::add_";
}

bool is_read_once(const TraceIndex& index, const FlowNode& maker, const FlowNode& reader) {
  return maker.op != kNoEvent && index.trace.name_of(maker.op) == "aten::mm" &&
         maker.readers.size() == 1 && maker.phase == reader.phase;
}

// `gemm` is the read of the GEMM's result among the reads of the add.
void add_to(const FlowNode& node, const FlowRead& gemm, const GemmShape& sizes,
            const GpuRates& rates, AddmmGroup& group) {
  // The GEMM still reads the addend, which is negligible for a bias.
  double addend = 0;
  for (const FlowRead& other : node.reads) {
    if (&other != &gemm) addend += other.size.bytes();
  }
  const auto now = static_cast<double>(node.device_ns);
  const double full = static_cast<double>(sizes.m) * static_cast<double>(sizes.n) *
                      static_cast<double>(node.result.element_bytes);
  const bool is_bias = addend < full / 2;
  const double reads = rates.bytes_per_ns > 0 ? addend / rates.bytes_per_ns : 0;
  const double after = std::min(now, is_bias ? kBiasAfter * now + reads : kMatrixAfter * now);
  group.sizes = sizes;
  group.now_ns += now;
  group.after_ns += after;
  group.saving_ns.add(
      {is_bias ? now / 2 : 0, now - after, is_bias ? now + kGapNs : (1 - kMatrixAfterMin) * now});
  group.adds.push_back(node.work.front());
}

// An add that becomes part of a GEMM needs no generated kernel.
void remove_single_ops(FusionEstimate& estimate, const std::set<EventId>& adds) {
  std::erase_if(estimate.groups, [&](const FusionGroup& group) {
    const bool all =
        group.ops.size() == 1 && std::all_of(group.work.begin(), group.work.end(),
                                             [&](EventId id) { return adds.contains(id); });
    if (all) estimate.saving_ns.add(group.saving_ns.scaled(-1));
    return all;
  });
}

}  // namespace

void find_addmms(const TraceIndex& index, const std::vector<FlowNode>& nodes,
                 FusionEstimate& estimate) {
  std::set<EventId> fused;
  for (const FusionGroup& group : estimate.groups) {
    if (group.ops.size() > 1) fused.insert(group.work.begin(), group.work.end());
  }
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, AddmmGroup> found;
  for (const FlowNode& node : nodes) {
    if (!is_single_add(index, node) || fused.contains(node.work.front())) continue;
    for (const FlowRead& read : node.reads) {
      if (read.maker == kNoNode || !is_read_once(index, nodes[read.maker], node)) continue;
      const auto sizes = gemm_shape(index.trace, nodes[read.maker].op);
      if (!sizes) continue;
      add_to(node, read, *sizes, estimate.rates,
             found[{sizes->batch, sizes->m, sizes->n, sizes->k}]);
      break;
    }
  }
  std::set<EventId> adds;
  for (auto& [sizes, group] : found) {
    adds.insert(group.adds.begin(), group.adds.end());
    estimate.kernels_after -= static_cast<int64_t>(group.adds.size());
    estimate.saving_ns.add(group.saving_ns);
    estimate.addmms.push_back(std::move(group));
  }
  remove_single_ops(estimate, adds);
}

}  // namespace epi::analysis
