// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace epi {

Result<FileLock> FileLock::acquire(const std::filesystem::path& target) {
  const auto path = target.parent_path() / fmt::format(".{}.lock", target.filename().string());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failure("{}: cannot create: {}", path.string(), std::strerror(errno));
  FileLock lock(fd);
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno != EINTR) return failure("{}: cannot lock: {}", path.string(), std::strerror(errno));
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace epi
