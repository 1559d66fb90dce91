// SPDX-License-Identifier: Apache-2.0
// FLOPs as PyTorch's profiler counts them with with_flops: for a few operators, from the sizes of
// their inputs.
#pragma once

#include <cstdint>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

// 0 for operators that PyTorch does not count.
int64_t pytorch_flops(const trace::Trace& trace, trace::EventId op);

}  // namespace epi::analysis
