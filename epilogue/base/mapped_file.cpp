// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace epi {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: do not wait for the writer of a pipe, which is rejected below.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failure("{}: {}", path.string(), std::strerror(errno));
  struct stat info = {};
  const bool known = ::fstat(fd, &info) == 0;
  const int stat_error = errno;
  if (!known || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return failure("{}: {}", path.string(),
                   known ? "not a regular file" : std::strerror(stat_error));
  }
  const auto size_bytes = static_cast<size_t>(info.st_size);
  if (size_bytes == 0) {
    ::close(fd);
    return MappedFile(nullptr, 0);
  }
  void* data =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  const int map_error = errno;
  ::close(fd);
  if (data == MAP_FAILED) {
    return failure("{}: cannot map {} bytes: {}", path.string(), size_bytes,
                   std::strerror(map_error));
  }
  return MappedFile(static_cast<std::byte*>(data), size_bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
}

}  // namespace epi
