// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace epi {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::make(const fs::path& parent, std::string_view prefix) {
  std::string pattern = (parent / prefix).string() + std::string(6, 'X');  // mkdtemp replaces them
  if (::mkdtemp(pattern.data()) == nullptr) {
    return failure("{}: cannot create a folder: {}", parent.string(), std::strerror(errno));
  }
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace epi
