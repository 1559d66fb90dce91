// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/cost/generated_cost.h"

#include <algorithm>

namespace epi::analysis {
namespace {

// From launch to end of a kernel with nothing to do.
constexpr double kEmptyNs = 900;
// Loading, converting, storing.
constexpr double kElementSlots = 13.5;
// Longer rows are read twice, or more often.
constexpr double kLongestRow = 1024;

// Of the backward ones, which were not measured: half again of the forward's.
struct FunctionCost {
  std::string_view op;
  double slots;
};
constexpr FunctionCost kCosts[] = {
    {"exp", 11},
    {"log", 27},
    {"sqrt", 14},
    {"rsqrt", 8},
    {"sigmoid", 16},
    {"tanh", 18},
    {"silu", 21},
    {"gelu", 39},
    {"sin", 27},
    {"cos", 30},
    {"pow", 1},
    {"erf", 34},
    {"div", 10},
    {"reciprocal", 9},
    {"softplus", 37},
    {"mish", 53},
    {"elu", 28},
    {"log1p", 26},
    {"clamp", 12},
    {"hardswish", 9},
    {"relu", 3.5},
    {"clamp_min", 3.5},
    {"silu_backward", 30},
    {"gelu_backward", 60},
};
constexpr double kGeluTanh = 22;

}  // namespace

double function_cost(std::string_view op, std::string_view how) {
  if (op == "gelu" && how == "tanh") return kGeluTanh;
  const auto* found = std::find_if(std::begin(kCosts), std::end(kCosts),
                                   [&](const FunctionCost& cost) { return cost.op == op; });
  return found == std::end(kCosts) ? 1 : found->slots;
}

double looped_cost(Kind kind, double row) {
  if (row <= kLongestRow) return 0;
  switch (kind) {
    case Kind::kSoftmax:
      return 5.2;
    case Kind::kNorm:
      return 1.8;
    case Kind::kReduction:
      return 0.8;
    default:
      return 0;
  }
}

double generated_ns(const GeneratedKernel& kernel, const GpuRates& rates) {
  const double moving = kernel.bytes / rates.bytes_per_ns;
  const double computing =
      rates.slots_per_ns > 0
          ? kernel.elements * (kElementSlots + kernel.functions) / rates.slots_per_ns
          : 0;
  return kEmptyNs + std::max(moving, computing) + kernel.looped_ns / rates.bytes_per_ns;
}

}  // namespace epi::analysis
