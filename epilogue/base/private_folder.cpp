// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "epilogue/base/file_owner.h"

namespace epi {
namespace {

// Reads until the end of the file, which may change meanwhile, or until the buffer is full.
Result<size_t> read_all(int fd, std::vector<std::byte>& buffer, const std::string& path) {
  size_t count = 0;
  while (count < buffer.size()) {
    const ssize_t got = ::read(fd, buffer.data() + count, buffer.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("{}: {}", path, std::strerror(errno));
    if (got == 0) break;
    count += static_cast<size_t>(got);
  }
  return count;
}

Result<std::vector<std::byte>> read_checked(int fd, const std::string& path, int64_t max_bytes) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return failure("{}: {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failure("{}: not a regular file", path);
  if (const auto error = owner_error(status, Owner::kUser); !error.empty()) {
    return failure("{}: {}", path, error);
  }
  if (status.st_size > max_bytes) {
    return failure("{}: {} bytes exceed the limit of {}", path, status.st_size, max_bytes);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  const auto count = read_all(fd, bytes, path);
  EPI_TRY(count);
  bytes.resize(*count);
  return bytes;
}

}  // namespace

Result<std::optional<PrivateFolder>> PrivateFolder::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<PrivateFolder>();
  if (fd < 0) return failure("{}: {}", path.string(), std::strerror(errno));
  PrivateFolder folder(path, fd);
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return failure("{}: {}", path.string(), std::strerror(errno));
  if (const auto error = owner_error(status, Owner::kUser); !error.empty()) {
    return failure("{}: {}", path.string(), error);
  }
  return std::optional<PrivateFolder>(std::move(folder));
}

Result<PrivateFolder> PrivateFolder::create(const std::filesystem::path& path) {
  std::filesystem::path part;
  for (const auto& name : path) {
    part /= name;
    if (::mkdir(part.c_str(), 0700) == 0 || errno == EEXIST || errno == EISDIR) continue;
    if (errno == EROFS || errno == EACCES) continue;  // it may exist: opening it tells
    return failure("{}: {}", path.string(), std::strerror(errno));
  }
  auto folder = open(path);
  EPI_TRY(folder);
  if (!*folder) return failure("{}: {}", path.string(), std::strerror(ENOENT));
  return std::move(**folder);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

PrivateFolder::~PrivateFolder() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::optional<std::vector<std::byte>>> PrivateFolder::read(const std::string& name,
                                                                  int64_t max_bytes) const {
  const std::string path = (path_ / name).string();
  const int fd = ::openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<std::vector<std::byte>>();
  if (fd < 0) {
    return failure("{}: {}", path, errno == ELOOP ? "a symbolic link" : std::strerror(errno));
  }
  auto bytes = read_checked(fd, path, max_bytes);
  ::close(fd);
  EPI_TRY(bytes);
  return std::optional(std::move(*bytes));
}

void PrivateFolder::touch(const std::string& name) const {
  ::utimensat(fd_, name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

}  // namespace epi
