// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

namespace epi {
namespace {

// What identifies the content of a file.
struct Version {
  int64_t size_bytes = 0;
  int64_t modified_ns = 0;
  bool operator==(const Version&) const = default;
};

Version version_of(const struct stat& status) {
  return {status.st_size, int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// A mapping. The signal handler uses only the atomics.
struct Slot {
  std::atomic<bool> is_used = false;
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> has_lost_pages = false;
  std::string path;
  int fd = -1;
  Version version;

  bool has_changed() const {
    struct stat status = {};
    return has_lost_pages || ::fstat(fd, &status) != 0 || version_of(status) != version;
  }
};
std::array<Slot, 4096> slots;
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

std::mutex slots_mutex;  // guards the members that are not atomic

struct sigaction previous_action;

uintptr_t page_of(uintptr_t address) {
  static const auto size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  return address / size * size;
}

// Replaces the pages from the lost one to the end of its mapping by zeros. False if the address is
// in no mapping.
bool replace_lost_pages(uintptr_t address) {
  for (Slot& slot : slots) {
    const uintptr_t end = slot.end;
    if (address < slot.begin || address >= end) continue;
    const uintptr_t page = page_of(address);
    void* zeros = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    slot.has_lost_pages = true;
    return zeros != MAP_FAILED;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool is_sent = info->si_code <= 0;  // by `kill` or `raise`
  const bool replaced = !is_sent && replace_lost_pages(reinterpret_cast<uintptr_t>(info->si_addr));
  errno = saved_errno;
  if (replaced) return;
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    // The instruction runs again after the return, and then ends the process.
    ::sigaction(SIGBUS, &previous_action, nullptr);
    if (is_sent) ::raise(SIGBUS);
  }
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_of(0);  // initializes its static, which the handler must not do
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, &action, &previous_action);
  });
}

// Null if the table is full.
Slot* take_slot() {
  for (Slot& slot : slots) {
    if (!slot.is_used.exchange(true)) return &slot;
  }
  return nullptr;
}

void release_slot(Slot& slot) {
  const std::lock_guard lock(slots_mutex);
  slot.end = 0;
  slot.begin = 0;
  slot.has_lost_pages = false;
  slot.fd = -1;
  slot.is_used = false;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const auto fault = [&] { return failure("{}: {}", path.string(), std::strerror(errno)); };
  MappedFile file;
  // O_NONBLOCK: do not wait for the writer of a pipe, which is rejected below.
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0) return fault();
  struct stat info = {};
  if (::fstat(file.fd_, &info) != 0) return fault();
  if (!S_ISREG(info.st_mode)) return failure("{}: not a regular file", path.string());
  const auto size_bytes = static_cast<size_t>(info.st_size);
  if (size_bytes == 0) return file;
  install_handler();
  Slot* const slot = take_slot();
  if (slot == nullptr) return failure("{}: too many files are mapped", path.string());
  file.slot_ = static_cast<int>(slot - slots.data());
  void* data =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.fd_, 0);
  if (data == MAP_FAILED) {
    return failure("{}: cannot map {} bytes: {}", path.string(), size_bytes, std::strerror(errno));
  }
  file.data_ = static_cast<std::byte*>(data);
  file.size_bytes_ = size_bytes;
  const std::lock_guard lock(slots_mutex);
  slot->path = path.string();
  slot->fd = file.fd_;
  slot->version = version_of(info);
  slot->begin = reinterpret_cast<uintptr_t>(data);
  slot->end = reinterpret_cast<uintptr_t>(data) + size_bytes;
  return file;
}

bool MappedFile::has_changed() const {
  if (slot_ < 0) return false;
  const std::lock_guard lock(slots_mutex);
  return slots[static_cast<size_t>(slot_)].has_changed();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      slot_(std::exchange(other.slot_, -1)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(slot_, other.slot_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
  if (slot_ >= 0) release_slot(slots[static_cast<size_t>(slot_)]);
  if (fd_ >= 0) ::close(fd_);
}

std::string changed_mapped_file() {
  const std::lock_guard lock(slots_mutex);
  for (const Slot& slot : slots) {
    if (slot.is_used && slot.fd >= 0 && slot.has_changed()) return slot.path;
  }
  return "";
}

bool is_in_changed_file(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(slots_mutex);
  for (const Slot& slot : slots) {
    if (slot.fd >= 0 && place >= slot.begin && place < slot.end) return slot.has_changed();
  }
  return false;
}

}  // namespace epi
