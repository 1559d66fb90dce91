// SPDX-License-Identifier: Apache-2.0
// Estimated time of a kernel that a compiler generates for a group of pointwise operators and
// reductions: its bytes over the bandwidth, or its arithmetic if that takes longer. The constants
// were measured on an H200 with kernels that PyTorch 2.11 generates (`bench/generated_cost.py`).
#pragma once

#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

// Cost of one function per element, in issue slots of the GPU's f32 units. `variant` is the
// operator's mode, if it has one ("tanh" for gelu).
double function_cost(std::string_view op, std::string_view variant);

struct GeneratedKernel {
  double bytes = 0;        // read and written, each tensor once
  double elements = 0;     // elements computed
  double functions = 0;    // sum of `function_cost` over its functions
  double long_row_ns = 0;  // extra passes over long rows, see `long_row_cost`
};

// Extra cost per element of a reduction whose rows do not fit into registers. 0 for short rows. In
// nanoseconds at a bandwidth of one byte per nanosecond, because the extra passes are cached reads.
double long_row_cost(Kind kind, double row);

struct GpuRates {
  double bytes_per_ns = 0;  // as reached by pointwise kernels
  double slots_per_ns = 0;  // f32 instructions of all units; 0: unknown
};

double generated_ns(const GeneratedKernel& kernel, const GpuRates& rates);

}  // namespace epi::analysis
