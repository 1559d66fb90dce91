// SPDX-License-Identifier: Apache-2.0
// A large trace made of a real one, repeated with its times and ids moved on, so that no two events
// are alike and everything in it still links up.
#pragma once

#include <cstdint>
#include <filesystem>

namespace epi::bench {

// Writes at least `bytes` bytes of repeated llama_train to `path`. Returns how many events.
int64_t write_big_trace(const std::filesystem::path& path, int64_t bytes);

}  // namespace epi::bench
