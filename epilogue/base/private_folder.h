// SPDX-License-Identifier: Apache-2.0
// A folder whose files are trusted, because only the user can write to it. It is opened once; files
// are opened relative to it and checked on the descriptor that is read, so that neither can be
// exchanged between the check and the use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/result.h"

namespace epi {

class PrivateFolder {
 public:
  // Returns nothing if the folder does not exist. Fails if another user owns it or can write to it.
  static Result<std::optional<PrivateFolder>> open(const std::filesystem::path& path);
  // Creates missing folders with access for the user alone, whatever the umask.
  static Result<PrivateFolder> create(const std::filesystem::path& path);

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  // Returns nothing if the file does not exist. Fails for links, for files that another user owns
  // or can write to, and for more than `max_bytes`.
  Result<std::optional<std::vector<std::byte>>> read(const std::string& name,
                                                     int64_t max_bytes) const;
  // Sets the file's time to now. Does nothing if that is not possible.
  void touch(const std::string& name) const;

 private:
  PrivateFolder(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::filesystem::path path_;
  int fd_;
};

}  // namespace epi
