// SPDX-License-Identifier: Apache-2.0
// The packages of a source. A folder is scanned. A file server cannot list folders, so it has
// `packages.json` in its root folder, and `packages.sig` with a signature over it:
//   {"packages": {"epilogue/glu": {"1": ["abi1-cpu-x86_64-linux", ...]}},
//    "released": "2026-11-17T09:00:00Z", "expires": "2027-02-17T09:00:00Z"}
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/source.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// Sorted variants by name and version.
using PackageIndex = std::map<std::string, std::map<int64_t, std::vector<std::string>>>;

struct IndexFile {
  PackageIndex packages;
  std::optional<std::string> released;  // when it was signed
  std::optional<std::string> expires;

  bool operator==(const IndexFile&) const = default;
};
// Accepts untrusted input. `path` is used in messages.
Result<IndexFile> parse_index(std::string_view text, std::string_view path);
std::string index_text(const IndexFile& index);

// Finds all packages in a folder by its subfolders.
Result<PackageIndex> scan_packages(const std::filesystem::path& folder);

// Scans `folder` and writes its `packages.json`. With a key, also `packages.sig`; without one, an
// existing signature is removed. Several processes may write at once.
Result<void> write_index(const std::filesystem::path& folder, const PrivateKey* key = nullptr,
                         std::optional<std::string> expires = std::nullopt);

// The packages of a source, or all reasons why its index is refused. An index is parsed only after
// its signature is checked.
struct CheckedIndex {
  PackageIndex packages;
  KeyId key;  // the key that signed it; empty: not signed by a trusted key
  std::vector<std::string> violations;
  std::vector<std::string> warnings;
};
// Reads the source's revoked keys before the index is checked, and they count from then on. Fails
// if the source cannot be read.
Result<CheckedIndex> list_packages(const Source& source, const Trust& trust);

}  // namespace epi::hub
