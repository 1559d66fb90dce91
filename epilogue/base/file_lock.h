// SPDX-License-Identifier: Apache-2.0
// An exclusive lock between processes, for files that are read, changed and written back. It is an
// `flock` on the folder of the target: the target itself is replaced by a rename, and a lock file
// beside it would stay behind.
#pragma once

#include <filesystem>

#include "epilogue/base/result.h"

namespace epi {

class FileLock {
 public:
  // Waits for other holders, at most 10 seconds: any user may lock a folder. A thread must not hold
  // two locks in the same folder.
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
