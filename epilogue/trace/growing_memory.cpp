// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/growing_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

#include "epilogue/base/machine.h"

namespace epi::trace {
namespace {

constexpr size_t kMinBytes = size_t{1} << 20;

size_t round_up(size_t bytes) {
  constexpr size_t kPageBytes = size_t{64} << 10;  // the largest page size of AArch64
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// If the address space of the process is limited, most of it is left for everything else.
size_t max_reservation() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur / 4;
}

}  // namespace

GrowingMemory::GrowingMemory(size_t bytes, size_t max_bytes)
    : room_(round_up(std::max(bytes, kMinBytes))),
      reserved_(std::max(room_, round_up(std::min(max_bytes, max_reservation())))) {
  // Pages without access count as address space, not as memory.
  void* pages =
      ::mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw NoMemory{room_};
  data_ = static_cast<char*>(pages);
  ::madvise(data_, reserved_, MADV_HUGEPAGE);  // saves a hundred thousand page faults
  if (::mprotect(data_, room_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(data_, reserved_);
    throw NoMemory{room_};
  }
}

GrowingMemory::~GrowingMemory() { ::munmap(data_, reserved_); }

// Linux overcommits memory and kills the process later, so growth that cannot fit is rejected here.
void GrowingMemory::grow() {
  const size_t more = std::min(room_, reserved_ - room_);
  const bool fits = more > 0 && static_cast<int64_t>(more) <= available_memory_bytes();
  if (!fits || ::mprotect(data_ + room_, more, PROT_READ | PROT_WRITE) != 0) {
    throw NoMemory{2 * room_};
  }
  room_ += more;
}

void GrowingMemory::stop_growing() {
  if (reserved_ > room_) ::munmap(data_ + room_, reserved_ - room_);
  reserved_ = room_;
}

}  // namespace epi::trace
