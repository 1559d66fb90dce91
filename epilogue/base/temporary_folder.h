// SPDX-License-Identifier: Apache-2.0
// A new folder, readable by the user alone, that is removed at the end of the scope unless it was
// renamed.
#pragma once

#include <filesystem>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi {

class TemporaryFolder {
 public:
  // `prefix` starts its name. Six random characters follow.
  static Result<TemporaryFolder> make(const std::filesystem::path& parent, std::string_view prefix);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace epi
