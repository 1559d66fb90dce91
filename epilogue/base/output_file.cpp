// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/output_file.h"
#include "epilogue/base/result.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace epi {

namespace {

// Follows a chain of symbolic links. The final target need not exist.
std::filesystem::path link_target(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  std::error_code failed;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(path, failed); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, failed);
  }
  return path;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& path) {
  static std::atomic<int> counter{0};
  std::error_code failed;
  const auto type = std::filesystem::status(path, failed).type();
  using std::filesystem::file_type;
  if (type == file_type::directory) return failure("{}: is a folder", path.string());
  if (type == file_type::none) return failure("{}: {}", path.string(), failed.message());
  if (type != file_type::regular && type != file_type::not_found) {
    const int device = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (device < 0) return failure("{}: cannot open: {}", path.string(), std::strerror(errno));
    return OutputFile(path, {}, device);
  }
  const auto target = link_target(path);
  const auto name =
      target.parent_path() / fmt::format(".epilogue-{}-{}.tmp", ::getpid(), counter++);
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return failure("{}: cannot create: {}", target.string(), std::strerror(errno));
  return OutputFile(target, name, fd);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("{}: cannot write: {}", target_.string(), std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<void> OutputFile::commit() {
  if (temporary_.empty()) {
    ::close(std::exchange(fd_, -1));
    return {};
  }
  if (::fsync(fd_) != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return failure("{}: cannot finish writing: {}", target_.string(), std::strerror(errno));
  }
  ::close(std::exchange(fd_, -1));
  // The rename is durable once the directory is synced. Some file systems refuse that, but the
  // content itself is already safe.
  const auto folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int folder_fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd >= 0) {
    ::fsync(folder_fd);
    ::close(folder_fd);
  }
  return {};
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  auto file = OutputFile::create(path);
  EPI_TRY(file);
  auto done = file->write(text);
  EPI_TRY(done);
  return file->commit();
}

}  // namespace epi
