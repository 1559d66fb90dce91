// SPDX-License-Identifier: Apache-2.0
// A file that is written atomically: bytes go to a temporary file beside the target, and `commit`
// renames it. Without `commit` the temporary file is removed and the target is unchanged. If the
// target is a symbolic link, the link is followed. If it is a device or a pipe, it is written
// directly.
//
// The temporary file is `.epilogue-<16 hex digits>.tmp`, and its writer holds a lock on it. A file
// that a killed writer has left behind is unlocked, and the next writer in that folder removes it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi {

class OutputFile {
 public:
  // `mode` are the permissions of a new file, from which the umask removes some. A file that is
  // replaced keeps its permissions, except those that `mode` does not contain.
  static Result<OutputFile> create(const std::filesystem::path& path, mode_t mode = 0666);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  // For libraries that write to a path themselves. Empty if the target is written directly.
  const std::filesystem::path& temporary_path() const { return temporary_; }
  // Syncs the content and renames the file to the target. Call once, last.
  Result<void> commit();

 private:
  OutputFile(std::filesystem::path target, std::filesystem::path temporary, int fd)
      : target_(std::move(target)), temporary_(std::move(temporary)), fd_(fd) {}

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty if the target is written directly
  int fd_ = -1;
};

// Writes `text` to `path` atomically.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   mode_t mode = 0666);

}  // namespace epi
