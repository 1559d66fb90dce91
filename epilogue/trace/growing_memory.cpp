// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/growing_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "epilogue/base/machine.h"

namespace epi::trace {
namespace {

constexpr size_t kMinBytes = size_t{1} << 20;

size_t round_up(size_t bytes) {
  constexpr size_t kPageBytes = size_t{64} << 10;  // the largest of AArch64
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

GrowingMemory::GrowingMemory(size_t bytes, size_t max_bytes)
    : room_(round_up(std::max(bytes, kMinBytes))), reserved_(std::max(room_, round_up(max_bytes))) {
  void* pages = MAP_FAILED;
  // Pages without access count as address space, not as memory.
  while ((pages = ::mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1, 0)) == MAP_FAILED) {
    if (reserved_ == room_) throw NoMemory{room_};
    reserved_ = std::max(room_, round_up(reserved_ / 2));
  }
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
  const size_t bytes = room_ + more;
  const bool fits = more > 0 && static_cast<int64_t>(more) <= available_memory_bytes();
  if (!fits || ::mprotect(data_ + room_, more, PROT_READ | PROT_WRITE) != 0) throw NoMemory{bytes};
  room_ = bytes;
}

void GrowingMemory::stop_growing() {
  if (reserved_ > room_) ::munmap(data_ + room_, reserved_ - room_);
  reserved_ = room_;
}

}  // namespace epi::trace
