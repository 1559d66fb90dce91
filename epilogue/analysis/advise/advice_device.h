// SPDX-License-Identifier: Apache-2.0
// Advice about kernels.
#pragma once

#include <span>
#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/advise/blocks.h"

namespace epi::analysis {

// Each function appends its findings for the work of one step.
void advise_fusion(const FusionEstimate& fusion, std::vector<Advice>& advice);
void advise_gated_mlps(const TraceIndex& index, const Blocks& blocks, std::vector<Advice>& advice);
// A GEMM whose result is read only by an add can be an `addmm`. Compilers do this too, so its
// saving is added to that of fusion.
void advise_addmm(const TraceIndex& index, std::span<const trace::EventId> work,
                  FusionEstimate& fusion, std::vector<Advice>& advice);
void advise_attention(const TraceIndex& index, std::span<const trace::EventId> work,
                      std::vector<Advice>& advice);
void advise_gemms(const TraceIndex& index, std::span<const trace::EventId> work,
                  std::vector<Advice>& advice);
void advise_copies(const TraceIndex& index, std::span<const trace::EventId> work,
                   const FusionEstimate& fusion, std::vector<Advice>& advice);

}  // namespace epi::analysis
