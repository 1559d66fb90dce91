// SPDX-License-Identifier: Apache-2.0
// The bytes that tensors share: allocated here, or someone else's with a way to let go of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "epilogue/tensor/device.h"

namespace epi {

class Storage {
 public:
  // Uninitialised bytes: of the caching CPU allocator, aligned to 64, or of the device's memory
  // (device_memory.h); null for `meta`.
  static std::shared_ptr<Storage> allocate(Device device, int64_t size_bytes);
  // Bytes owned by someone else; `release` runs when the last tensor over them is gone.
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
  // What the device's memory knows the block by; null for the CPU's and for other owners'.
  void* handle() const { return handle_; }

 private:
  Device device_;
  void* data_;
  int64_t size_bytes_;
  std::function<void()> release_;  // empty: the block goes back to its allocator
  void* handle_ = nullptr;         // of a device's block
};

}  // namespace epi
