// SPDX-License-Identifier: Apache-2.0
// The number of forwards after which a mode has recovered the cost of its first call. `tour`,
// `bench` and `run --like` share this rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "epilogue/cli/run/run_forwards.h"

namespace epi::cli {

struct BreakEven {
  std::optional<int64_t> forwards;  // empty: never, or not conclusive
  bool is_conclusive = true;        // nine of ten rounds agree on which mode is faster

  std::string text() const;  // "4776", "100k+", "never", "?"
};

// Whether a mode with these savings per forward is faster. Empty unless nine of ten rounds agree.
std::optional<bool> is_faster(const Spread& saved_ns);

// `saved_ns` is the time saved per forward, over interleaved rounds of both modes.
BreakEven break_even(double first_call_ns, const Spread& saved_ns);

}  // namespace epi::cli
