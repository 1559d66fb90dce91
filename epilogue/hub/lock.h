// SPDX-License-Identifier: Apache-2.0
// `epilogue.lock`: the exact bytes that a project uses. Where there is a lock, a package that it
// does not hold, and a byte that it does not expect, are refused.
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
  std::map<std::string, std::string> files;  // path: sha256
};

struct LockedPackage {
  std::string name;
  int64_t version = 0;
  KeyId key;  // that signed it; empty: nobody
  std::map<std::string, LockedVariant> variants;
};

struct Lock {
  std::string path;
  std::vector<LockedPackage> packages;

  const LockedPackage* find(std::string_view name, int64_t version) const;
};

Result<Lock> parse_lock(std::string_view text, std::string_view path);
// None where the file does not exist.
Result<std::optional<Lock>> read_lock(const std::filesystem::path& path);
Result<void> write_lock(const Lock& lock);

}  // namespace epi::hub
