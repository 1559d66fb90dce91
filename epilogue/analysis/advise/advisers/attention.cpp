// SPDX-License-Identifier: Apache-2.0
// bmm, softmax, bmm as one kernel.
#include <fmt/format.h>
#include <map>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/analysis/time/work_groups.h"

namespace epi::analysis {

using trace::EventId;

AdviceList advise_attention(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  // Shares of the peak that fused kernels reach, with bytes at four fifths of the bandwidth.
  constexpr double kPoor = 0.15;
  constexpr double kTypical = 0.4;
  constexpr double kGood = 0.7;
  constexpr double kBandwidthShare = 0.8;
  const auto& peaks = input.peaks;
  std::map<std::string, Advice> found;
  std::map<std::string, std::vector<EventId>> without_last;  // by `about`
  for (const auto& one_place : unfused_attention(index, input.work)) {
    const auto scores = gemm_shape(index.trace, index.links.op[one_place.front()]);
    const auto values = gemm_shape(index.trace, index.links.op[one_place.back()]);
    if (!scores || !values) continue;
    const double now = device_time(index.trace, one_place);
    const auto count = [](int64_t a, int64_t b) {
      return static_cast<double>(a) * static_cast<double>(b);
    };
    const std::vector<OpInput> inputs = op_inputs(index.trace, index.links.op[one_place.front()]);
    const double element = inputs.empty() ? 2 : static_cast<double>(inputs[0].element_bytes);
    // Queries, keys and values are read and the result is written. Scores stay on chip.
    const double bytes = element * static_cast<double>(scores->batch) *
                         (count(scores->m, scores->k) + count(scores->n, scores->k) +
                          count(values->k, values->n) + count(values->m, values->n));
    const double flops = scores->flops() + values->flops();
    const auto fused_ns = [&](double share) {
      if (!peaks) return now / 2;
      return std::min(now, std::max(flops / (peaks->f16 * 1000 * share),
                                    bytes / (peaks->memory_tb_s * 1000 * kBandwidthShare)));
    };
    const std::string about = fmt::format("{} of {}x{}", scores->batch, scores->m, scores->n);
    Advice& one = found[about];
    one.kind = AdviceKind::kAttention;
    one.about = {about};
    if (one.terms.empty()) {
      one.terms = {{Term::What::kPlaces, 0}, {Term::What::kTakes, 0}, {Term::What::kWouldTake, 0}};
    }
    one.terms[0].value += 1;
    one.terms[1].value += now;
    one.terms[2].value += fused_ns(kTypical);
    one.removes_ns.add({now - fused_ns(kPoor), now - fused_ns(kTypical), now - fused_ns(kGood)});
    one.events.insert(one.events.end(), one_place.begin(), one_place.end());
    // One operator replaces all of them.
    std::vector<EventId>& gone = without_last[about];
    gone.insert(gone.end(), one_place.begin(), one_place.end() - 1);
  }
  AdviceList list;
  for (auto& [about, one] : found) {
    one.host_events = ops_of_only(input, without_last[about]);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace epi::analysis
