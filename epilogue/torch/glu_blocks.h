// SPDX-License-Identifier: Apache-2.0
// The handles of epilogue/glu.h that the operator uses, one for each kind of block. They live until
// the process ends, so that graphs stay valid.
#pragma once

#include <string>

#include "epilogue/glu.h"

namespace epi::torch {

// A handle that is prepared, or null and the reason why the kernels do not apply to such blocks.
// A failure is remembered: ATen runs such blocks until the process ends.
struct GluBlock {
  const epi_glu* handle = nullptr;
  std::string reason;
};

// The first call for a kind of block generates or loads its code. Threads may call it concurrently.
const GluBlock& glu_block(const epi_glu_block& block);

}  // namespace epi::torch
