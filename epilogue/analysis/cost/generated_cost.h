// SPDX-License-Identifier: Apache-2.0
// What a kernel takes that a compiler generates for a group of pointwise operators and reductions:
// its bytes over the bandwidth, or its arithmetic where that takes longer. The constants were
// measured on an H200 with kernels that PyTorch 2.11 generates (`bench/generated_cost.py`).
#pragma once

#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

// What one function costs for each element, in slots of the GPU's f32 units; `how` is a further
// argument where the operator has one ("tanh" of gelu).
double function_cost(std::string_view op, std::string_view how);

struct GeneratedKernel {
  double bytes = 0;      // read and written, each tensor once
  double elements = 0;   // that it computes
  double functions = 0;  // the costs of its functions, added up
  double looped_ns = 0;  // for going over long rows again, see `looped_cost`
};

// What a reduction adds for each element of rows that do not fit into registers; nothing for short
// ones. In nanoseconds at one byte a nanosecond of bandwidth: it is cached reading.
double looped_cost(Kind kind, double row);

struct GpuRates {
  double bytes_per_ns = 0;  // that pointwise kernels reach
  double slots_per_ns = 0;  // f32 instructions of all units; 0: not known
};

double generated_ns(const GeneratedKernel& kernel, const GpuRates& rates);

}  // namespace epi::analysis
