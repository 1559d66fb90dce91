// SPDX-License-Identifier: Apache-2.0
// Runs a GEMM with AMX: splits it into blocks whose weights stay in the L2 cache.
#pragma once

#include "epilogue/compiler/plan/run_kernels.h"

namespace epi::compiler {

// On all threads. The call's function is a GemmTilesFunction.
void run_tiles(const GemmCall& call, const GemmArgument* arguments);

}  // namespace epi::compiler
