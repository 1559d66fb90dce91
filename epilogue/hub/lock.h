// SPDX-License-Identifier: Apache-2.0
// `epilogue.lock`: pins the exact bytes of the packages that a project uses. If there is a lock,
// packages that are not in it and files that differ from it are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/keys.h"

namespace epi::hub {

struct LockedVariant {
  std::string manifest;                      // sha256 of manifest.json
  std::map<std::string, std::string> files;  // sha256 by path
};

struct LockedPackage {
  std::string name;
  int64_t version = 0;
  KeyId key;  // the key that signed it; empty: not signed by a trusted key
  std::map<std::string, LockedVariant> variants;
};

struct Lock {
  std::string path;
  std::vector<LockedPackage> packages;

  const LockedPackage* find(std::string_view name, int64_t version) const;
};

Result<Lock> parse_lock(std::string_view text, std::string_view path);
// Returns nothing if the file does not exist.
Result<std::optional<Lock>> read_lock(const std::filesystem::path& path);
Result<void> write_lock(const Lock& lock);
// Adds packages to the lock at `path` and replaces their older entries. Several processes may add
// at once.
Result<void> add_to_lock(const std::filesystem::path& path, std::vector<LockedPackage> packages);

}  // namespace epi::hub
