// SPDX-License-Identifier: Apache-2.0
// Gate and up in one GEMM, the activation in its epilogue.
#include <fmt/format.h>
#include <map>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/index/ownership.h"

namespace epi::analysis {

AdviceList advise_gated_mlps(const AdviserInput& input) {
  // Share of the time between the GEMMs that is saved: all of it moves into the epilogue. The range
  // comes from pairs on an H200, where one GEMM of twice the width can also be faster than two. See
  // docs/advise.md.
  constexpr Estimate kSaved = {0.75, 1, 1.6};
  std::map<std::vector<std::string>, Advice> found;
  std::map<std::vector<std::string>, std::vector<trace::EventId>> between;  // by `about`
  for (const GatedMlp& mlp : input.blocks.mlps) {
    const double between_ns = device_time(input.index.trace, mlp.between);
    const std::vector<std::string> about = {
        mlp.activation, fmt::format("{}x{}x{}", mlp.rows, mlp.dim, mlp.hidden), mlp.dtype};
    Advice& one = found[about];
    if (one.terms.empty()) {
      one.kind = AdviceKind::kGatedMlp;
      one.about = about;
      one.terms = {
          {Term::What::kBlocks, 0}, {Term::What::kTakes, 0}, {Term::What::kBetweenGemms, 0}};
    }
    one.terms[0].value += 1;
    one.terms[1].value += mlp.device_ns;
    one.terms[2].value += between_ns;
    one.removes_ns.add(kSaved.scaled(between_ns));
    one.events.insert(one.events.end(), mlp.work.begin(), mlp.work.end());
    between[about].insert(between[about].end(), mlp.between.begin(), mlp.between.end());
  }
  AdviceList list;
  for (auto& [about, one] : found) {
    one.host_events = ops_of_only(input, between[about]);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace epi::analysis
