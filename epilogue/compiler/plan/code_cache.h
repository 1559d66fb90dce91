// SPDX-License-Identifier: Apache-2.0
// Content-addressed disk cache of generated code. The key is a hash of the source, the LLVM version
// and the CPU features. The entry is the object code with its own hash. Entries are written
// atomically, and damaged ones are rebuilt. Folder: EPILOGUE_CACHE (empty: no cache), else
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

// Whether to look up compiled code in the cache and store it there.
enum class UseCache : uint8_t { kYes, kNo };

// When the cache exceeds this size, the least recently used entries are removed. A block takes
// about 20 kB (`epilogue cache`).
inline constexpr int64_t kCacheBytes = 256 << 20;

// nullopt if the cache is disabled or there is no home directory.
std::optional<std::filesystem::path> cache_folder();

// The bytes of the entry, or nullopt if it is absent or damaged.
std::optional<std::vector<std::byte>> find_cached(const std::string& key);
// Several processes may store the same entry concurrently. An error gives the reason why nothing
// was stored.
Result<void> store_cached(const std::string& key, std::span<const std::byte> bytes,
                          int64_t max_bytes = kCacheBytes);

struct CacheContents {
  int64_t entries = 0;
  int64_t bytes = 0;
};
CacheContents cache_contents();
// Removes every entry and returns the number and size of those removed. Other files in the folder
// stay.
Result<CacheContents> clear_cache();

}  // namespace epi::compiler
