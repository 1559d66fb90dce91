// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/cost/generated_cost.h"

#include <algorithm>

#include "epilogue/pointwise/table.h"

namespace epi::analysis {
namespace {

// Duration of an empty kernel, from launch to end.
constexpr double kEmptyNs = 900;
// Loading, converting and storing one element.
constexpr double kElementSlots = 13.5;
// Longer rows are read at least twice.
constexpr double kMaxRow = 1024;

}  // namespace

double function_cost(std::string_view op, std::string_view variant) {
  double slots = 1;
  for (const pointwise::FunctionInfo& info : pointwise::kFunctions) {
    if (info.op == op && (info.variant.empty() || info.variant == variant)) slots = info.slots;
  }
  for (const pointwise::TraceOnly& row : pointwise::kTraceOnly) {
    if (row.op == op) slots = row.slots;
  }
  return slots;
}

double long_row_cost(Kind kind, double row) {
  if (row <= kMaxRow) return 0;
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
  return kEmptyNs + std::max(moving, computing) + kernel.long_row_ns / rates.bytes_per_ns;
}

}  // namespace epi::analysis
