// SPDX-License-Identifier: Apache-2.0
// Content-addressed disk cache of generated code. The key is a hash of the source, the LLVM version
// and the CPU features. Entries are written atomically, and damaged ones are rebuilt. Folder:
// EPILOGUE_CACHE (empty: no cache), else XDG_CACHE_HOME/epilogue, else ~/.cache/epilogue.
//
// An entry is code that runs in this process, so it must come from the user: the folder and the
// entry must belong to the user and nobody else may write to them, and the entry is authenticated
// with a random key that only the user can read (`key` in the folder).
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

// The bytes of the entry, or nothing if it is absent or damaged. Fails if the folder or the entry
// is not trusted.
Result<std::optional<std::vector<std::byte>>> find_cached(const std::string& key);
// Several processes may store the same entry concurrently. An error gives the reason why nothing
// was stored.
Result<void> store_cached(const std::string& key, std::span<const std::byte> bytes,
                          int64_t max_bytes = kCacheBytes);

struct CacheContents {
  int64_t entries = 0;
  int64_t bytes = 0;
};
CacheContents cache_contents();
// Removes every entry and the key, and returns the number and size of the entries. Other files in
// the folder stay.
Result<CacheContents> clear_cache();

}  // namespace epi::compiler
