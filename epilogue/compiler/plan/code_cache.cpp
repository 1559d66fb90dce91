// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/code_cache.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "epilogue/base/hash.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/output_file.h"
#include "epilogue/base/result.h"

namespace epi::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".epicode";
constexpr std::string_view kMagic = "epilogue code 2\n";
constexpr size_t kHashDigits = 64;
constexpr size_t kHeaderBytes = kMagic.size() + kHashDigits;

// The hash covers the key, so that a renamed entry is invalid.
std::string hash_of(const std::string& key, std::span<const std::byte> code) {
  return sha256(key + sha256(code));
}

struct Entry {
  fs::path path;
  int64_t bytes = 0;
  fs::file_time_type used;
};

std::vector<Entry> entries_in(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kEnding) continue;
    std::error_code gone;  // another process may remove it concurrently
    const auto bytes = static_cast<int64_t>(at->file_size(gone));
    const auto used = at->last_write_time(gone);
    if (!gone) entries.push_back({at->path(), bytes, used});
  }
  return entries;
}

fs::path path_of(const fs::path& folder, const std::string& key) {
  return folder / (key + std::string(kEnding));
}

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

std::optional<std::vector<std::byte>> find_cached(const std::string& key) {
  const auto folder = cache_folder();
  if (!folder) return std::nullopt;
  const fs::path path = path_of(*folder, key);
  const auto file = MappedFile::open(path);
  if (!file || file->bytes().size() < kHeaderBytes) return std::nullopt;
  const auto bytes = file->bytes();
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  // Copy first, so that the verified bytes are the ones that run even if the file changes.
  std::vector<std::byte> code(bytes.begin() + kHeaderBytes, bytes.end());
  const bool valid = std::string_view(text, kMagic.size()) == kMagic &&
                     std::string_view(text + kMagic.size(), kHashDigits) == hash_of(key, code);
  if (!valid) return std::nullopt;
  std::error_code ignored;  // a read-only folder still works
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return code;
}

Result<void> store_cached(const std::string& key, std::span<const std::byte> bytes,
                          int64_t max_bytes) {
  const auto folder = cache_folder();
  if (!folder) return {};
  std::error_code error;
  fs::create_directories(*folder, error);
  if (error) return failure("{}: {}", folder->string(), error.message());
  auto file = OutputFile::create(path_of(*folder, key));
  EPI_TRY(file);
  for (const auto& part : {std::string(kMagic), hash_of(key, bytes)}) {
    EPI_TRY(file->write(part));
  }
  EPI_TRY(file->write(bytes));
  EPI_TRY(file->commit());
  remove_oldest(*folder, max_bytes);
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
  return removed;
}

}  // namespace epi::compiler
