// SPDX-License-Identifier: Apache-2.0
// The blocks of one device behind the allocator: free ones by pool and size class. A pool belongs
// to a stream, or to the memory of a graph. Any thread; one lock a device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/stream.h"

namespace epi::cuda {

struct Pool;

struct CachedBlock {
  void* data = nullptr;
  int64_t bytes = 0;
  Pool* pool = nullptr;
  std::vector<Stream> also_used_on{};  // beside the pool's own stream
};

struct Pool {
  std::map<int64_t, std::vector<CachedBlock*>> free;
  int64_t in_use = 0;   // blocks that are not in `free`
  bool closed = false;  // graph or stream are gone: blocks that come back go to the driver
  bool of_graph = false;
};

class BlockCache {
 public:
  explicit BlockCache(int device) : device_(device) {}

  // A block of the stream's own pool, or of a graph's. Throws `Error` with the sizes where the
  // device has no memory left, after it gave the cache back and tried once more.
  CachedBlock* take(const Stream& stream, int64_t size_bytes);
  CachedBlock* take(Pool& graph_pool, int64_t size_bytes);
  void give_back(CachedBlock* block) noexcept;
  void note_use(CachedBlock* block, const Stream& stream);

  Pool* open_graph_pool();
  void close_graph_pool(Pool* pool);
  // The stream is done and gone: so is its pool.
  void retire(const Stream& stream);

  // Gives every free block back to the driver; the device must be idle.
  void release();
  AllocatorStats stats();

 private:
  // A block that other streams may still use, with what marks their ends.
  struct Waiting {
    CachedBlock* block;
    std::vector<Event> ends;
  };

  Pool& pool_of(const Stream& stream);
  CachedBlock* take_locked(Pool& pool, int64_t size_bytes);
  CachedBlock* take_free(Pool& pool, int64_t bytes);
  CachedBlock* take_fresh(Pool& pool, int64_t bytes, int64_t wanted_bytes);
  void tell(const void* data, int64_t bytes) const;
  void keep(CachedBlock* block);
  void wait_for_others(CachedBlock* block);
  void collect_waiting();
  void drop_empty_pools();
  void release_pool(Pool& pool);
  void release_locked();
  void to_driver(CachedBlock* block);
  [[noreturn]] void fail_out_of_memory(int64_t wanted_bytes);

  const int device_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Pool>> stream_pools_;  // by the stream's id
  std::vector<std::unique_ptr<Pool>> other_pools_;  // of graphs, and of streams that are gone
  std::vector<Waiting> waiting_;
  AllocatorStats stats_;
};

// The one of `device`; never destroyed, as tensors in static storage may outlive it.
BlockCache& block_cache(int device);

}  // namespace epi::cuda
