// SPDX-License-Identifier: Apache-2.0
// Package sources: a folder (or its `file:` address), or the same folder behind `http:` or
// `https:`. package_index.h lists what a source has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "epilogue/base/result.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// Called with the number of bytes received and the total, which is -1 if unknown.
using FetchProgress = std::function<void(int64_t done, int64_t total)>;

class Source {
 public:
  virtual ~Source() = default;
  virtual const std::string& name() const = 0;  // the address passed to `open_source`
  // Packages of a remote source are cached. Locked packages are read from the cache without a
  // request.
  virtual bool is_remote() const { return false; }
  // Reads a file of at most `max_bytes` by its path relative to the root folder. Returns nothing if
  // the file does not exist. A failure names the path.
  virtual Result<std::optional<std::string>> find(const std::string& path, int64_t max_bytes,
                                                  const FetchProgress& progress) const = 0;
  // Like `find`, but fails if the file does not exist.
  Result<std::string> read(const std::string& path, int64_t max_bytes,
                           const FetchProgress& progress = nullptr) const;
  // The root folder; empty for a remote source.
  virtual std::filesystem::path folder() const { return {}; }
};

// "epilogue/glu/v1/build/abi1-cpu-x86_64-linux"
std::string path_of(const VariantName& name);

}  // namespace epi::hub
