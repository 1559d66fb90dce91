// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/block_cache.h"

#include <algorithm>
#include <array>
#include <functional>

#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/relaxed_capture.h"
#include "epilogue/tensor/allocation_listener.h"
#include "epilogue/tensor/size_class.h"

namespace epi::cuda {
namespace {

// The granularity of cudaMalloc. Larger than the alignment of any vector access or tensor map.
constexpr int64_t kMinBlock = 512;
constexpr size_t kMaxDevices = 64;

// Returns null if the device is out of memory.
void* driver_allocate(int64_t bytes) {
  const RelaxedCapture relaxed;
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, static_cast<size_t>(bytes));
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(code, "cudaMalloc");
  return data;
}

}  // namespace

Pool& BlockCache::pool_of(const Stream& stream) {
  auto& pool = stream_pools_[stream.id()];
  if (!pool) pool = std::make_unique<Pool>();
  return *pool;
}

CachedBlock* BlockCache::take(const Stream& stream, int64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  return take_locked(pool_of(stream), size_bytes);
}

CachedBlock* BlockCache::take(Pool& graph_pool, int64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  return take_locked(graph_pool, size_bytes);
}

CachedBlock* BlockCache::take_locked(Pool& pool, int64_t size_bytes) {
  const int64_t bytes = size_class_bytes(size_bytes, kMinBlock);
  CachedBlock* block = take_free(pool, bytes);
  if (block == nullptr && !waiting_.empty() && !pool.for_graph) {
    collect_waiting();
    block = take_free(pool, bytes);
  }
  if (block == nullptr) block = take_fresh(pool, bytes, size_bytes);
  in_use_bytes_ += bytes;
  ++pool.in_use;
  notify_listener(block->data, bytes);
  return block;
}

CachedBlock* BlockCache::take_free(Pool& pool, int64_t bytes) {
  const auto blocks = pool.free.find(bytes);
  if (blocks == pool.free.end() || blocks->second.empty()) return nullptr;
  CachedBlock* block = blocks->second.back();
  blocks->second.pop_back();
  cached_bytes_ -= bytes;
  return block;
}

CachedBlock* BlockCache::take_fresh(Pool& pool, int64_t bytes, int64_t requested_bytes) {
  const DeviceGuard guard(device_);
  void* data = driver_allocate(bytes);
  if (data == nullptr && !pool.for_graph) {  // synchronizing would invalidate a capture
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    release_locked();
    data = driver_allocate(bytes);
  }
  if (data == nullptr) fail_out_of_memory(requested_bytes);
  return new CachedBlock{data, bytes, &pool};
}

void BlockCache::fail_out_of_memory(int64_t requested_bytes) {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  fail("empty",
       "out of memory on cuda:{}: requested {} bytes, {} in use by this process, {} of {} free on "
       "the device",
       device_, requested_bytes, in_use_bytes_, free_bytes, total_bytes);
}

void BlockCache::give_back(CachedBlock* block) noexcept {
  const std::lock_guard lock(mutex_);
  const int64_t bytes = block->bytes;
  const void* data = block->data;
  in_use_bytes_ -= bytes;
  if (block->also_used_on.empty()) {
    keep(block);
  } else {
    defer_reuse(block);
  }
  notify_listener(data, -bytes);
}

void BlockCache::notify_listener(const void* data, int64_t bytes) const {
  const Device device{DeviceType::kCuda, static_cast<int8_t>(device_)};
  notify_allocation({device, data, bytes, in_use_bytes_, in_use_bytes_ + cached_bytes_});
}

void BlockCache::keep(CachedBlock* block) {
  Pool* pool = block->pool;
  --pool->in_use;
  if (pool->closed) {
    return_to_driver(block);
    drop_empty_pools();
    return;
  }
  pool->free[block->bytes].push_back(block);
  cached_bytes_ += block->bytes;
}

void BlockCache::defer_reuse(CachedBlock* block) {
  try {
    const DeviceGuard guard(device_);
    Waiting waiting{block, {}};
    for (const Stream& stream : block->also_used_on) {
      waiting.ends.emplace_back();
      waiting.ends.back().record(stream);
    }
    block->also_used_on.clear();
    waiting_.push_back(std::move(waiting));
  } catch (const std::exception&) {  // creating or recording an event failed: wait here instead
    cudaDeviceSynchronize();
    block->also_used_on.clear();
    keep(block);
  }
}

void BlockCache::collect_waiting() {
  const RelaxedCapture relaxed;
  const auto is_done = [](const Waiting& waiting) {
    return std::all_of(waiting.ends.begin(), waiting.ends.end(),
                       [](const Event& end) { return end.is_known_done(); });
  };
  const auto done = std::partition(waiting_.begin(), waiting_.end(), std::not_fn(is_done));
  for (auto waiting = done; waiting != waiting_.end(); ++waiting) keep(waiting->block);
  waiting_.erase(done, waiting_.end());
}

void BlockCache::note_use(CachedBlock* block, const Stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const Stream& other) { return other.id() == stream.id(); };
  if (std::none_of(block->also_used_on.begin(), block->also_used_on.end(), is_same)) {
    block->also_used_on.push_back(stream);
  }
}

Pool* BlockCache::open_graph_pool() {
  const std::lock_guard lock(mutex_);
  other_pools_.push_back(std::make_unique<Pool>());
  other_pools_.back()->for_graph = true;
  return other_pools_.back().get();
}

void BlockCache::close_graph_pool(Pool* pool) {
  const std::lock_guard lock(mutex_);
  release_pool(*pool);
  pool->closed = true;
  drop_empty_pools();
}

void BlockCache::retire(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto found = stream_pools_.find(stream.id());
  if (found == stream_pools_.end()) return;
  release_pool(*found->second);
  found->second->closed = true;
  other_pools_.push_back(std::move(found->second));
  stream_pools_.erase(found);
  drop_empty_pools();
}

void BlockCache::drop_empty_pools() {
  std::erase_if(other_pools_, [](const auto& pool) { return pool->closed && pool->in_use == 0; });
}

void BlockCache::release() {
  const std::lock_guard lock(mutex_);
  const DeviceGuard guard(device_);
  release_locked();
}

void BlockCache::release_locked() {
  collect_waiting();
  for (auto& [id, pool] : stream_pools_) release_pool(*pool);
}

void BlockCache::release_pool(Pool& pool) {
  for (auto& [bytes, blocks] : pool.free) {
    for (CachedBlock* block : blocks) return_to_driver(block);
    cached_bytes_ -= bytes * static_cast<int64_t>(blocks.size());
    blocks.clear();
  }
}

void BlockCache::return_to_driver(CachedBlock* block) {
  const RelaxedCapture relaxed;
  cudaFree(block->data);
  delete block;
}

BlockCache& block_cache(int device) {
  static const std::array<BlockCache*, kMaxDevices> caches = [] {
    std::array<BlockCache*, kMaxDevices> made{};
    for (size_t i = 0; i < made.size(); ++i) made[i] = new BlockCache(static_cast<int>(i));
    return made;
  }();
  const auto index = static_cast<size_t>(device);
  if (index >= kMaxDevices) fail("empty", "there is no device cuda:{}", device);
  return *caches[index];
}

}  // namespace epi::cuda
