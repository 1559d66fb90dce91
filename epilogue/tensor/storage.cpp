// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/storage.h"

#include "epilogue/base/error.h"
#include "epilogue/tensor/cpu_allocator.h"
#include "epilogue/tensor/device_memory.h"

namespace epi {

std::shared_ptr<Storage> Storage::allocate(Device device, int64_t size_bytes) {
  EPI_CHECK(size_bytes >= 0);
  // The owner is created before the block, which would be lost if memory ran out in between.
  auto storage = std::make_shared<Storage>(device, nullptr, size_bytes, nullptr);
  if (device.type == DeviceType::kCpu) {
    storage->data_ = cpu_allocate(size_bytes);
  } else if (device.type == DeviceType::kCuda) {
    const DeviceMemory::Block block = device_memory(device).allocate(device, size_bytes);
    storage->data_ = block.data;
    storage->handle_ = block.handle;
  }
  return storage;
}

std::shared_ptr<Storage> Storage::wrap(Device device, void* data, int64_t size_bytes,
                                       std::function<void()> release) {
  if (!release) release = [] {};
  return std::make_shared<Storage>(device, data, size_bytes, std::move(release));
}

Storage::~Storage() {
  if (release_) {
    release_();
  } else if (data_ == nullptr && handle_ == nullptr) {
    return;  // there is no block
  } else if (device_.type == DeviceType::kCpu) {
    cpu_free(data_, size_bytes_);
  } else if (device_.type == DeviceType::kCuda) {
    device_memory(device_).free(device_, {data_, handle_});
  }
}

}  // namespace epi
