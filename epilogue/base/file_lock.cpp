// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace epi {

Result<FileLock> FileLock::acquire(const std::filesystem::path& target) {
  const auto folder = target.has_parent_path() ? target.parent_path() : ".";
  FileLock lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.fd_ < 0) return failure("{}: {}", folder.string(), std::strerror(errno));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (::flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    if (errno == EWOULDBLOCK) return failure("{}: locked by another process", folder.string());
    // Folders on NFS cannot be locked. A lost change is then possible, but refusing to work is
    // worse.
    if (errno == EBADF || errno == EOPNOTSUPP || errno == ENOLCK) break;
    if (errno != EINTR)
      return failure("{}: cannot lock: {}", folder.string(), std::strerror(errno));
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace epi
