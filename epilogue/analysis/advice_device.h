// SPDX-License-Identifier: Apache-2.0
// Advice about kernels.
#pragma once

#include <vector>

#include "epilogue/analysis/advise.h"

namespace epi::analysis {

// Each adds what it finds in the work of one step.
void advise_fusion(const FusionEstimate& fusion, std::vector<Advice>& advice);
void advise_gated_mlps(const Examined& examined, const Blocks& blocks, std::vector<Advice>& advice);
void advise_products(const Examined& examined, std::span<const trace::EventId> work,
                     std::vector<Advice>& advice);
void advise_copies(const Examined& examined, std::span<const trace::EventId> work,
                   const FusionEstimate& fusion, std::vector<Advice>& advice);

}  // namespace epi::analysis
