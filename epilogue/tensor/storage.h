// SPDX-License-Identifier: Apache-2.0
// The bytes that tensors share: allocated here, or external memory with a release callback.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "epilogue/tensor/device.h"

namespace epi {

class Storage {
 public:
  // Uninitialized bytes. On the CPU they come from the caching allocator, aligned to 64, on other
  // devices from device_memory.h. Null for `meta`.
  static std::shared_ptr<Storage> allocate(Device device, int64_t size_bytes);
  // Wraps external memory. `release` runs when the last tensor over it is destroyed.
  static std::shared_ptr<Storage> wrap(Device device, void* data, int64_t size_bytes,
                                       std::function<void()> release);

  Storage(Device device, void* data, int64_t size_bytes, std::function<void()> release)
      : device_(device), data_(data), size_bytes_(size_bytes), release_(std::move(release)) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  Device device() const { return device_; }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  int64_t size_bytes() const { return size_bytes_; }
  // Counts the operators that have written into existing bytes. Writes through raw pointers are not
  // seen.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  void mark_written() { version_.fetch_add(1, std::memory_order_acq_rel); }
  // The handle of the block in its `DeviceMemory`. Null for CPU and external memory.
  void* handle() const { return handle_; }

 private:
  Device device_;
  void* data_;
  int64_t size_bytes_;
  std::function<void()> release_;  // if empty, the block is returned to its allocator
  void* handle_ = nullptr;         // see DeviceMemory::Block
  std::atomic<uint64_t> version_ = 0;
};

}  // namespace epi
