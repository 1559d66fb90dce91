// SPDX-License-Identifier: Apache-2.0
// How far a reader is, shared with a thread that watches it and may cancel it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace epi::trace {

struct ReadProgress {
  // Of the texts. The size of a compressed one is an estimate until it is decompressed.
  std::atomic<int64_t> total_bytes = 0;
  std::atomic<int64_t> parsed_bytes = 0;
  std::atomic<bool> is_cancelled = false;

  // From 0 to 1.
  double fraction() const {
    const int64_t total = total_bytes;
    if (total == 0) return 0;
    return std::min(1.0, static_cast<double>(parsed_bytes) / static_cast<double>(total));
  }
};

inline bool is_cancelled(const ReadProgress* progress) {
  return progress != nullptr && progress->is_cancelled;
}

}  // namespace epi::trace
