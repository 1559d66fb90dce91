// SPDX-License-Identifier: Apache-2.0
// The allocator's block cache for one device: free blocks by pool and size class. A pool belongs to
// a stream or to a graph's memory. Thread-safe, with one lock per device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "epilogue/cuda/stream.h"

namespace epi::cuda {

struct Pool;

struct CachedBlock {
  void* data = nullptr;
  int64_t bytes = 0;
  Pool* pool = nullptr;
  std::vector<Stream> also_used_on{};  // streams other than the pool's
};

struct Pool {
  std::map<int64_t, std::vector<CachedBlock*>> free;
  int64_t in_use = 0;   // blocks that are not in `free`
  bool closed = false;  // graph or stream destroyed: freed blocks return to the driver
  bool for_graph = false;
};

class BlockCache {
 public:
  explicit BlockCache(int device) : device_(device) {}

  // Returns a block from the stream's pool or from a graph's pool. If the device is out of memory,
  // the first overload releases the cache and retries once. Throws `Error` with the sizes if no
  // memory is left.
  CachedBlock* take(const Stream& stream, int64_t size_bytes);
  CachedBlock* take(Pool& graph_pool, int64_t size_bytes);
  void give_back(CachedBlock* block) noexcept;
  void note_use(CachedBlock* block, const Stream& stream);

  Pool* open_graph_pool();
  void close_graph_pool(Pool* pool);
  // Closes the pool of a stream that has finished and is about to be destroyed.
  void retire(const Stream& stream);

  // Returns every free block to the driver. The device must be idle.
  void release();

 private:
  // A freed block that other streams may still use, and the events that mark the end of each use.
  struct Waiting {
    CachedBlock* block;
    std::vector<Event> ends;
  };

  Pool& pool_of(const Stream& stream);
  CachedBlock* take_locked(Pool& pool, int64_t size_bytes);
  CachedBlock* take_free(Pool& pool, int64_t bytes);
  CachedBlock* take_fresh(Pool& pool, int64_t bytes, int64_t requested_bytes);
  void notify_listener(const void* data, int64_t bytes) const;
  void keep(CachedBlock* block);
  void defer_reuse(CachedBlock* block);
  void collect_waiting();
  void drop_empty_pools();
  void release_pool(Pool& pool);
  void release_locked();
  void return_to_driver(CachedBlock* block);
  [[noreturn]] void fail_out_of_memory(int64_t requested_bytes);

  const int device_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Pool>> stream_pools_;  // by the stream's id
  std::vector<std::unique_ptr<Pool>> other_pools_;  // of graphs and of destroyed streams
  std::vector<Waiting> waiting_;
  int64_t in_use_bytes_ = 0;  // of whole blocks, which are up to 1/8 larger than their tensors
  int64_t cached_bytes_ = 0;
};

// The cache of `device`. Never destroyed, because tensors in static storage may outlive it.
BlockCache& block_cache(int device);

}  // namespace epi::cuda
