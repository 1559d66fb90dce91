// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/cpu_allocator.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/machine.h"
#include "epilogue/tensor/allocation_listener.h"
#include "epilogue/tensor/size_class.h"

namespace epi {
namespace {

constexpr int64_t kAlignment = 64;               // a cache line, and an AVX-512 register
constexpr int64_t kHugePage = int64_t{2} << 20;  // blocks of at least this size request huge pages
// The cache holds at most 1 / kCacheShare of the memory that was available at startup.
constexpr int64_t kCacheShare = 4;

void* system_allocate(int64_t bytes) {
  const bool huge = bytes >= kHugePage;
  void* data = nullptr;
  if (::posix_memalign(&data, huge ? kHugePage : kAlignment, static_cast<size_t>(bytes)) != 0) {
    return nullptr;
  }
  if (huge) ::madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  return data;
}

class Cache {
 public:
  void* allocate(int64_t size_bytes) {
    const int64_t bytes = size_class_bytes(size_bytes, kAlignment);
    const std::lock_guard lock(mutex_);
    void* data = take_cached(bytes);
    if (data == nullptr) data = allocate_fresh(bytes, size_bytes);
    in_use_bytes_ += bytes;
    notify(data, bytes);
    return data;
  }

  void release(void* data, int64_t size_bytes) {
    const int64_t bytes = size_class_bytes(size_bytes, kAlignment);
    const std::lock_guard lock(mutex_);
    in_use_bytes_ -= bytes;
    notify(data, -bytes);
    keep_or_free(data, bytes);
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    clear_locked();
  }

 private:
  // Null if no block of this size class is cached.
  void* take_cached(int64_t bytes) {
    auto& blocks = free_[bytes];
    if (blocks.empty()) return nullptr;
    void* data = blocks.back();
    blocks.pop_back();
    cached_bytes_ -= bytes;
    return data;
  }

  void keep_or_free(void* data, int64_t bytes) {
    if (cached_bytes_ + bytes <= limit_bytes_) {
      try {
        free_[bytes].push_back(data);
        cached_bytes_ += bytes;
        return;
      } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): cannot be cached, so it is
                                         // freed
      }
    }
    std::free(data);
  }

  void notify(const void* data, int64_t bytes) const {
    notify_allocation({kCpu, data, bytes, in_use_bytes_, in_use_bytes_ + cached_bytes_});
  }

  void* allocate_fresh(int64_t bytes, int64_t requested_bytes) {
    // Linux overcommits memory and kills the process later, so a block that cannot fit is rejected
    // here.
    const bool large = bytes >= (int64_t{1} << 30);
    const bool fits = !large || bytes <= available_memory_bytes() + cached_bytes_;
    if (large) clear_locked();
    void* data = fits ? system_allocate(bytes) : nullptr;
    if (data == nullptr && fits) {
      clear_locked();
      data = system_allocate(bytes);
    }
    if (data == nullptr) {
      fail("empty", "out of memory: {} bytes requested, {} in use, {} available", requested_bytes,
           in_use_bytes_, available_memory_bytes());
    }
    return data;
  }

  void clear_locked() {
    for (auto& [bytes, blocks] : free_) {
      for (void* data : blocks) std::free(data);
      blocks.clear();
    }
    cached_bytes_ = 0;
  }

  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> free_;
  int64_t in_use_bytes_ = 0;
  int64_t cached_bytes_ = 0;
  const int64_t limit_bytes_ = available_memory_bytes() / kCacheShare;
};

// Never destroyed: tensors with static storage duration may outlive every other static object.
Cache& cache() {
  static Cache* instance = new Cache;
  return *instance;
}

}  // namespace

void* cpu_allocate(int64_t size_bytes) { return cache().allocate(size_bytes); }
void cpu_free(void* data, int64_t size_bytes) { cache().release(data, size_bytes); }
void cpu_release_cached() { cache().clear(); }

}  // namespace epi
