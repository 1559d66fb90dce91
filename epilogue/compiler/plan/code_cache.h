// SPDX-License-Identifier: Apache-2.0
// Generated code on disk, by content: the key is a hash of the source, LLVM's version and the CPU's
// features, the entry its object code with a hash of its own. Entries appear whole or not at all;
// one that is not what it was is rebuilt. Folder: EPILOGUE_CACHE (empty: no cache), else
// XDG_CACHE_HOME/epilogue, else ~/.cache/epilogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/base/result.h"

namespace epi::compiler {

// Whether compiled code is looked for in the cache, and kept there.
enum class UseCache : uint8_t { kYes, kNo };

// Entries are removed, the longest unused first, once all of them are larger than this. A block
// takes about 20 kB (`epilogue cache`).
inline constexpr int64_t kCacheBytes = 256 << 20;

// None: the cache is switched off, or there is no home.
std::optional<std::filesystem::path> cache_folder();

// The entry's bytes; none where it is absent or damaged.
std::optional<std::vector<std::byte>> find_cached(const std::string& key);
// Any process may store the same entry at the same time. A failure says why nothing was kept.
Result<void> store_cached(const std::string& key, std::span<const std::byte> bytes,
                          int64_t most_bytes = kCacheBytes);

struct CacheContents {
  int64_t entries = 0;
  int64_t bytes = 0;
};
CacheContents cache_contents();
// Removes every entry; returns what there was. Other files in the folder stay.
Result<CacheContents> clear_cache();

}  // namespace epi::compiler
