// SPDX-License-Identifier: Apache-2.0
// After how many forwards a mode has made up for its first call: one rule for `tour`, `bench` and
// `run --like`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "epilogue/cli/run/run_forwards.h"

namespace epi::cli {

struct PaidBack {
  std::optional<int64_t> forwards;  // none: never, or not sure
  bool is_sure = true;              // nine of ten rounds agree whether the mode is faster

  std::string text() const;  // "4776", "never", "?"
};

// Whether a mode that saves so much is faster; none where nine of ten rounds do not agree.
std::optional<bool> is_faster(const Spread& saved_ns);

// `saved_ns` is what a forward saves, over rounds in which both took turns.
PaidBack paid_back(double first_call_ns, const Spread& saved_ns);

}  // namespace epi::cli
