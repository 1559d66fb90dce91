// SPDX-License-Identifier: Apache-2.0
// An exclusive lock between processes, for files that are read, changed and written back. It is an
// `flock` on a file beside the target, because the target itself is replaced by a rename.
#pragma once

#include <filesystem>

#include "epilogue/base/result.h"

namespace epi {

class FileLock {
 public:
  // Waits for other holders. The lock is `.NAME.lock` in the folder of `target`; it stays there,
  // empty, because removing it would let two processes hold a lock each.
  static Result<FileLock> acquire(const std::filesystem::path& target);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace epi
