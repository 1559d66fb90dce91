// SPDX-License-Identifier: Apache-2.0
// The CUDA graphs of a plan.
#pragma once

#include <cstdint>
#include <memory>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

// Each graph has its own arena of `arena_bytes`.
std::unique_ptr<GpuGraphs> make_gpu_graphs(int device, int64_t arena_bytes);

}  // namespace epi::compiler
