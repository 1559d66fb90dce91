// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "epilogue/base/result.h"

namespace epi {

namespace {

constexpr std::string_view kPrefix = ".epilogue-";
constexpr std::string_view kSuffix = ".tmp";
// A writer locks its file right after creating it. Younger files may not be locked yet.
constexpr std::time_t kStaleAfterS = 60;

// Follows a chain of symbolic links. The final target need not exist.
std::filesystem::path link_target(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  std::error_code failed;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(path, failed); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, failed);
  }
  return path;
}

// In a folder such as /tmp, another user may have placed a link to a file of this user.
bool is_foreign_link(const std::filesystem::path& path) {
  struct stat link = {};
  struct stat folder = {};
  const auto parent = path.has_parent_path() ? path.parent_path() : ".";
  return ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) &&
         ::stat(parent.c_str(), &folder) == 0 && (folder.st_mode & S_IWOTH) != 0 &&
         link.st_uid != ::geteuid() && link.st_uid != folder.st_uid;
}

// Removes the file if it belongs to this user and its writer is gone.
void remove_if_stale(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status = {};
  const bool stale =
      ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
      std::time(nullptr) - status.st_mtime > kStaleAfterS && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (stale) ::unlink(path.c_str());
  ::close(fd);
}

// A name that this class gives to a temporary file, or gave in an earlier version.
bool is_temporary(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  return name.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

// With `readdir`, because libstdc++'s directory iterators end the process if memory runs out.
void remove_stale_files(const std::filesystem::path& folder) {
  DIR* const stream = ::opendir(folder.empty() ? "." : folder.c_str());
  if (stream == nullptr) return;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (is_temporary(name)) remove_if_stale(folder / name);
  }
  ::closedir(stream);
}

// Creates a temporary file with a name that nobody can predict. Process ids repeat in containers.
Result<std::pair<std::filesystem::path, int>> create_temporary(const std::filesystem::path& target,
                                                               mode_t mode) {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) {
      return failure("{}: cannot draw a random name: {}", target.string(), std::strerror(errno));
    }
    auto path = target.parent_path() / fmt::format("{}{:016x}{}", kPrefix, number, kSuffix);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) {
      ::flock(fd, LOCK_EX | LOCK_NB);  // without it, the file looks stale after a minute
      return std::pair(std::move(path), fd);
    }
    if (errno != EEXIST) break;
  }
  return failure("{}: cannot create: {}", target.string(), std::strerror(errno));
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& path, mode_t mode) {
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
  if (is_foreign_link(path)) {
    return failure("{}: a symbolic link of another user in a folder that everybody can write to",
                   path.string());
  }
  auto target = link_target(path);
  remove_stale_files(target.parent_path());
  auto temporary = create_temporary(target, mode);
  EPI_TRY(temporary);
  auto& [name, fd] = *temporary;
  return OutputFile(std::move(target), std::move(name), fd);
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
  struct stat replaced = {};
  struct stat created = {};
  if (::stat(target_.c_str(), &replaced) == 0 && ::fstat(fd_, &created) == 0) {
    ::fchmod(fd_, replaced.st_mode & (created.st_mode | 0111) & 0777);
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

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   mode_t mode) {
  auto file = OutputFile::create(path, mode);
  EPI_TRY(file);
  auto done = file->write(text);
  EPI_TRY(done);
  return file->commit();
}

}  // namespace epi
