// SPDX-License-Identifier: Apache-2.0
// Where packages come from: a folder (or its `file:` address), or the same folder behind `http:` or
// `https:`, which needs `packages.json` at its top because a file server does not list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// Name, then version, then variants, sorted.
using PackageIndex = std::map<std::string, std::map<int64_t, std::vector<std::string>>>;

// Told of bytes that arrived, of how many.
using FetchProgress = std::function<void(int64_t done, int64_t total)>;

class Source {
 public:
  virtual ~Source() = default;
  virtual const std::string& name() const = 0;  // as it was given
  virtual Result<PackageIndex> index() const = 0;
  // Its files may be elsewhere: what the lock holds is used from the cache, without asking.
  virtual bool is_remote() const { return false; }
  // The bytes of a file, by its path from the top; none where there is no such file. At most so
  // many; a failure says what was asked.
  virtual Result<std::optional<std::string>> find(const std::string& path, int64_t most_bytes,
                                                  const FetchProgress& progress) const = 0;
  // The same for one that must be there.
  Result<std::string> read(const std::string& path, int64_t most_bytes,
                           const FetchProgress& progress = nullptr) const;
  // Such a file where it lies; empty for a remote source.
  virtual std::filesystem::path folder() const { return {}; }
};

// "epilogue/glu/v1/build/abi1-cpu-x86_64-linux"
std::string path_of(const VariantName& name);

// All packages in a folder, by its sub-folders.
Result<PackageIndex> scan_packages(const std::filesystem::path& folder);
// `packages.json`: {"packages": {"epilogue/glu": {"1": ["abi1-cpu-x86_64-linux", ...]}}}
Result<PackageIndex> parse_index(std::string_view text, std::string_view path);
std::string index_text(const PackageIndex& index);

}  // namespace epi::hub
