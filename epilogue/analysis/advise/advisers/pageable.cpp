// SPDX-License-Identifier: Apache-2.0
// Copies from or to memory that is not pinned.
#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

AdviceList advise_pageable(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  Advice pageable;
  pageable.kind = AdviceKind::kPageable;
  double ns = 0;
  for (const trace::EventId id : input.work) {
    if (index.trace.category[id] != trace::Category::kGpuMemcpy ||
        index.trace.name_of(id).find("Pageable") == std::string_view::npos) {
      continue;
    }
    pageable.events.push_back(id);
    ns += static_cast<double>(index.trace.dur_ns[id]);
  }
  if (pageable.events.empty()) return {};
  // Measured in pairs of recordings on an H200, see docs/advise.md.
  pageable.removes_ns = {0.5 * ns, 0.72 * ns, 0.95 * ns};
  pageable.terms = {{Term::What::kCopies, static_cast<double>(pageable.events.size())},
                    {Term::What::kTakes, ns}};
  return {std::move(pageable)};
}

}  // namespace epi::analysis
