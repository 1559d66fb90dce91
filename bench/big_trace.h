// SPDX-License-Identifier: Apache-2.0
// A large trace: a real one, repeated with shifted times and ids, so that no two events are equal
// and all links remain valid.
#pragma once

#include <cstdint>
#include <filesystem>

namespace epi::bench {

// Writes llama_train repeatedly to `path` until it has at least `bytes` bytes. Returns the number
// of events.
int64_t write_big_trace(const std::filesystem::path& path, int64_t bytes);

}  // namespace epi::bench
