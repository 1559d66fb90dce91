// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/allocator.h"

#include "epilogue/cuda/block_cache.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/device_guard.h"

namespace epi::cuda {
namespace {

// Set by the innermost GraphMemory::Use: this thread allocates from the pool on that device.
struct GraphPool {
  Pool* pool = nullptr;
  int device = 0;
};
thread_local GraphPool graph_pool;

CachedBlock* take_block(BlockCache& cache, int device, int64_t size_bytes) {
  if (graph_pool.pool != nullptr && graph_pool.device == device) {
    return cache.take(*graph_pool.pool, size_bytes);
  }
  const Stream& stream = current_stream(device);
  if (stream.is_capturing()) {
    fail("empty",
         "cannot allocate while the stream is being captured: create a cuda::GraphMemory::Use, "
         "which keeps memory for the graph");
  }
  return cache.take(stream, size_bytes);
}

class CachingMemory final : public DeviceMemory {
 public:
  Block allocate(Device device, int64_t size_bytes) override {
    BlockCache& cache = block_cache(device.index);
    CachedBlock* block = take_block(cache, device.index, size_bytes);
    return {block->data, block};
  }

  void free(Device device, const Block& block) noexcept override {
    block_cache(device.index).give_back(static_cast<CachedBlock*>(block.handle));
  }

  void write(Device device, void* to, const void* from, int64_t size_bytes) override {
    const DeviceGuard guard(device.index);
    const Stream& stream = current_stream(device.index);
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(size_bytes), cudaMemcpyHostToDevice,
                          stream.get()),
          "cudaMemcpyAsync");
    stream.synchronize();
  }

  void zero(Device device, void* to, int64_t size_bytes) override {
    const DeviceGuard guard(device.index);
    check(
        cudaMemsetAsync(to, 0, static_cast<size_t>(size_bytes), current_stream(device.index).get()),
        "cudaMemsetAsync");
  }
};

}  // namespace

void release_cached(int device) {
  synchronize(device);
  block_cache(device).release();
}

void record_stream(const Tensor& tensor, const Stream& stream) {
  auto* block = static_cast<CachedBlock*>(tensor.storage()->handle());
  if (block == nullptr) return;  // the caller owns this memory
  block_cache(tensor.device().index).note_use(block, stream);
}

GraphMemory::GraphMemory(int device)
    : device_(device), pool_(block_cache(device).open_graph_pool()) {}

GraphMemory::~GraphMemory() { block_cache(device_).close_graph_pool(static_cast<Pool*>(pool_)); }

GraphMemory::Use::Use(GraphMemory& memory)
    : previous_pool_(graph_pool.pool), previous_device_(graph_pool.device) {
  graph_pool = {static_cast<Pool*>(memory.pool_), memory.device_};
}

GraphMemory::Use::~Use() { graph_pool = {static_cast<Pool*>(previous_pool_), previous_device_}; }

Scratch::Scratch(int device, int64_t size_bytes)
    : device_{DeviceType::kCuda, static_cast<int8_t>(device)},
      block_(caching_memory().allocate(device_, size_bytes)) {}

Scratch::~Scratch() { caching_memory().free(device_, block_); }

DeviceMemory& caching_memory() {
  static CachingMemory* const memory = new CachingMemory;
  return *memory;
}

}  // namespace epi::cuda
