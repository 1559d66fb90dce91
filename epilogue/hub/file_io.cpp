// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "epilogue/base/file_owner.h"
#include "epilogue/base/output_file.h"

namespace epi::hub {
namespace {

constexpr size_t kMaxPathLength = 200;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string open_error(int error) {
  return error == ELOOP ? "symbolic links are not allowed in packages" : std::strerror(error);
}

enum class Access : uint8_t { kAnyone, kTrusted, kSecret };

// Why a file with this owner and mode must not be used; empty if it may.
std::string access_error(const struct stat& status, Access access) {
  if (access == Access::kAnyone) return "";
  const std::string error = owner_error(status, Owner::kUserOrRoot);
  if (!error.empty()) return "not trusted: " + error;
  if (access == Access::kTrusted || (status.st_mode & 077) == 0) return "";
  return fmt::format("a private key that other users can read (mode {:04o}): run `chmod go-rwx`",
                     status.st_mode & 07777);
}

// The owner is that of the descriptor which is then read, so that the file cannot be exchanged in
// between.
Result<std::string> read_all(int fd, const std::string& path, int64_t max_bytes,
                             Access access = Access::kAnyone) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return failure("{}: {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failure("{}: not a regular file", path);
  if (const auto error = access_error(status, access); !error.empty()) {
    return failure("{}: {}", path, error);
  }
  if (status.st_size > max_bytes) {
    return failure("{}: {} bytes exceed the limit of {}", path, status.st_size, max_bytes);
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("{}: {}", path, std::strerror(errno));
    if (got == 0) break;  // the file was truncated; the hash check detects it
    at += static_cast<size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

// Non-blocking, so that a pipe is rejected instead of waited for.
Result<std::string> read_file(const std::filesystem::path& path, int64_t max_bytes, int flags,
                              Access access = Access::kAnyone) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags));
  if (file.get() < 0) return failure("{}: {}", path.string(), open_error(errno));
  return read_all(file.get(), path.string(), max_bytes, access);
}

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '+' || c == '-' || c == '/';
}

}  // namespace

bool is_missing(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found;
}

Result<std::string> read_user_file(const std::filesystem::path& path, int64_t max_bytes) {
  return read_file(path, max_bytes, 0);
}

Result<std::string> read_package_file(const std::filesystem::path& path, int64_t max_bytes) {
  return read_file(path, max_bytes, O_NOFOLLOW);
}

Result<std::string> read_trusted_file(const std::filesystem::path& path, int64_t max_bytes) {
  return read_file(path, max_bytes, 0, Access::kTrusted);
}

Result<std::string> read_secret_file(const std::filesystem::path& path, int64_t max_bytes) {
  return read_file(path, max_bytes, 0, Access::kSecret);
}

Result<std::string> read_file_under(const std::filesystem::path& folder, std::string_view relative,
                                    int64_t max_bytes) {
  const std::string path = (folder / relative).string();
  if (const std::string objection = path_error(relative); !objection.empty()) {
    return failure("{}: {}", path, objection);
  }
  Descriptor at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return failure("{}: {}", folder.string(), std::strerror(errno));
  while (true) {
    const size_t slash = relative.find('/');
    const std::string part(relative.substr(0, slash));
    const bool last = slash == std::string_view::npos;
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (last ? 0 : O_DIRECTORY);
    Descriptor next(::openat(at.get(), part.c_str(), flags));
    if (next.get() < 0) {
      // openat reports a link to a folder as ENOTDIR.
      const bool is_link = errno == ENOTDIR && !last;
      return failure("{}: {}", path, open_error(is_link ? ELOOP : errno));
    }
    at = std::move(next);
    if (last) return read_all(at.get(), path, max_bytes);
    relative.remove_prefix(slash + 1);
  }
}

Result<void> make_folders(const std::filesystem::path& path, mode_t mode) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) return {};
  EPI_TRY(make_folders(path.parent_path(), mode));
  // Another process may have created it since.
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return failure("{}: {}", path.string(), std::strerror(errno));
  }
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode) {
  EPI_TRY(make_folders(path.parent_path()));
  return write_file_atomically(path, bytes, mode);
}

std::string folder_error(const std::filesystem::path& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  if (folder.get() < 0 || ::fstat(folder.get(), &status) != 0) return std::strerror(errno);
  return owner_error(status, Owner::kUser);
}

Result<void> make_private_folder(const std::filesystem::path& path) {
  EPI_TRY(make_folders(path, 0700));
  if (const auto error = folder_error(path); !error.empty()) {
    return failure("{}: {}", path.string(), error);
  }
  return {};
}

std::string path_error(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > kMaxPathLength)
    return fmt::format("the path is longer than {} characters", kMaxPathLength);
  if (path.starts_with('/')) return "the path is not relative";
  for (const char c : path) {
    if (!is_allowed(c)) return "the path has a character other than letters, digits and ._+-/";
  }
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    if (part == "..") return "the path leaves its folder";
    if (part.empty() || part == ".") return "the path has an empty or \".\" component";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return path.ends_with('/') ? "the path names a folder" : "";
}

}  // namespace epi::hub
