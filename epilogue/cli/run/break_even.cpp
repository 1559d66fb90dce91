// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/break_even.h"

#include <fmt/format.h>

#include <cmath>

namespace epi::cli {

std::optional<bool> is_faster(const Spread& saved_ns) {
  if (saved_ns.p10 > 0) return true;
  if (saved_ns.p90 < 0) return false;
  return std::nullopt;
}

BreakEven break_even(double first_call_ns, const Spread& saved_ns) {
  const std::optional<bool> faster = is_faster(saved_ns);
  if (!faster.value_or(false)) return {std::nullopt, faster.has_value()};
  return {static_cast<int64_t>(std::ceil(first_call_ns / saved_ns.median)), true};
}

std::string BreakEven::text() const {
  if (!forwards) return is_conclusive ? "never" : "?";
  constexpr int64_t kTooManyForColumn = 100000;  // five characters in the tables
  return *forwards < kTooManyForColumn ? fmt::format("{}", *forwards) : "100k+";
}

}  // namespace epi::cli
