// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/code_cache.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "epilogue/base/file_lock.h"
#include "epilogue/base/folder_names.h"
#include "epilogue/base/hash.h"
#include "epilogue/base/output_file.h"
#include "epilogue/base/private_folder.h"
#include "epilogue/base/result.h"

namespace epi::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".epicode";
constexpr std::string_view kMagic = "epilogue code 3\n";
constexpr size_t kHashDigits = 64;
constexpr size_t kHeaderBytes = kMagic.size() + kHashDigits;
constexpr const char* kSecretName = "key";
constexpr size_t kSecretBytes = 32;
constexpr mode_t kOnlyUser = 0600;

using Bytes = std::vector<std::byte>;

// Covers the entry's key, so that a renamed entry is invalid.
std::string authentication(const Bytes& secret, const std::string& key,
                           std::span<const std::byte> code) {
  return hmac_sha256(secret, key + sha256(code));
}

// Nothing if there is none yet.
Result<std::optional<Bytes>> read_secret(const PrivateFolder& folder) {
  auto secret = folder.read(kSecretName, kSecretBytes);
  EPI_TRY(secret);
  if (*secret && (*secret)->size() == kSecretBytes) return std::move(*secret);
  return std::nullopt;
}

Result<Bytes> read_or_make_secret(const PrivateFolder& folder, const fs::path& path) {
  // Parallel processes must agree on one.
  const auto lock = FileLock::acquire(path / kSecretName);
  EPI_TRY(lock);
  auto secret = read_secret(folder);
  EPI_TRY(secret);
  if (*secret) return std::move(**secret);
  Bytes random(kSecretBytes);
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return failure("cannot draw a random key: {}", std::strerror(errno));
  }
  const std::string_view text(reinterpret_cast<const char*>(random.data()), random.size());
  EPI_TRY(write_file_atomically(path / kSecretName, text, kOnlyUser));
  return random;
}

struct Entry {
  fs::path path;
  int64_t bytes = 0;
  fs::file_time_type used;
};

std::vector<Entry> entries_in(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (const std::string& name : folder_names(folder, error)) {
    const fs::path path = folder / name;
    if (path.extension() != kEnding) continue;
    std::error_code gone;  // another process may remove it concurrently
    const auto bytes = static_cast<int64_t>(fs::file_size(path, gone));
    if (gone) continue;
    const auto used = fs::last_write_time(path, gone);
    if (!gone) entries.push_back({path, bytes, used});
  }
  return entries;
}

std::string name_of(const std::string& key) { return key + std::string(kEnding); }

void remove_oldest(const fs::path& folder, int64_t max_bytes) {
  auto entries = entries_in(folder);
  int64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes) return;
    std::error_code gone;
    fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

}  // namespace

std::optional<fs::path> cache_folder() {
  if (const char* chosen = std::getenv("EPILOGUE_CACHE")) {
    if (*chosen == '\0') return std::nullopt;
    return fs::path(chosen);
  }
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches == '/') {
    return fs::path(caches) / "epilogue";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "epilogue";
  }
  return std::nullopt;
}

Result<std::optional<Bytes>> find_cached(const std::string& key) {
  const auto path = cache_folder();
  if (!path) return std::nullopt;
  const auto folder = PrivateFolder::open(*path);
  EPI_TRY(folder);
  if (!*folder) return std::nullopt;
  const std::string name = name_of(key);
  const auto entry = (*folder)->read(name, kCacheBytes);
  EPI_TRY(entry);
  if (!*entry || (*entry)->size() < kHeaderBytes) return std::nullopt;
  const auto secret = read_secret(**folder);
  EPI_TRY(secret);
  if (!*secret) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>((*entry)->data());
  Bytes code((*entry)->begin() + kHeaderBytes, (*entry)->end());
  const bool valid =
      std::string_view(text, kMagic.size()) == kMagic &&
      std::string_view(text + kMagic.size(), kHashDigits) == authentication(**secret, key, code);
  if (!valid) return std::nullopt;
  (*folder)->touch(name);
  return std::optional(std::move(code));
}

Result<void> store_cached(const std::string& key, std::span<const std::byte> bytes,
                          int64_t max_bytes) {
  const auto path = cache_folder();
  if (!path) return {};
  const auto folder = PrivateFolder::create(*path);
  EPI_TRY(folder);
  const auto secret = read_or_make_secret(*folder, *path);
  EPI_TRY(secret);
  auto file = OutputFile::create(*path / name_of(key), kOnlyUser);
  EPI_TRY(file);
  for (const auto& part : {std::string(kMagic), authentication(*secret, key, bytes)}) {
    EPI_TRY(file->write(part));
  }
  EPI_TRY(file->write(bytes));
  EPI_TRY(file->commit());
  remove_oldest(*path, max_bytes);
  return {};
}

CacheContents cache_contents() {
  CacheContents contents;
  const auto folder = cache_folder();
  if (!folder) return contents;
  for (const Entry& entry : entries_in(*folder)) {
    ++contents.entries;
    contents.bytes += entry.bytes;
  }
  return contents;
}

Result<CacheContents> clear_cache() {
  CacheContents removed;
  const auto folder = cache_folder();
  if (!folder) return removed;
  for (const Entry& entry : entries_in(*folder)) {
    std::error_code error;
    if (fs::remove(entry.path, error)) {
      ++removed.entries;
      removed.bytes += entry.bytes;
    } else if (error) {
      return failure("{}: {}", entry.path.string(), error.message());
    }
  }
  // A key that is not trusted would keep the cache unusable. A new one is made when needed.
  std::error_code ignored;
  fs::remove(*folder / kSecretName, ignored);
  return removed;
}

}  // namespace epi::compiler
