// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/storage.h"

#include "epilogue/base/error.h"
#include "epilogue/tensor/cpu_allocator.h"
#include "epilogue/tensor/device_memory.h"

namespace epi {

std::shared_ptr<Storage> Storage::allocate(Device device, int64_t size_bytes) {
  EPI_CHECK(size_bytes >= 0);
  switch (device.type) {
    case DeviceType::kCpu:
      return std::make_shared<Storage>(device, cpu_allocate(size_bytes), size_bytes, nullptr);
    case DeviceType::kMeta:
      return std::make_shared<Storage>(device, nullptr, size_bytes, nullptr);
    case DeviceType::kCuda:
      break;
  }
  const DeviceMemory::Block block = device_memory(device).allocate(device, size_bytes);
  auto storage = std::make_shared<Storage>(device, block.data, size_bytes, nullptr);
  storage->handle_ = block.handle;
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
  } else if (device_.type == DeviceType::kCpu) {
    cpu_free(data_, size_bytes_);
  } else if (device_.type == DeviceType::kCuda) {
    device_memory(device_).free(device_, {data_, handle_});
  }
}

}  // namespace epi
