// SPDX-License-Identifier: Apache-2.0
// Device memory, kept by size class and stream. A freed block goes to work that follows on the same
// stream at once, without waiting: the stream's order makes that safe. Nothing is given back to the
// driver until memory runs out or `release_cached` is called.
#pragma once

#include <cstdint>
#include <memory>

#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/device_memory.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

struct AllocatorStats {
  int64_t in_use_bytes = 0;  // of blocks, which are up to an eighth larger than the tensors
  int64_t cached_bytes = 0;
  int64_t fresh_allocations = 0;  // that went to the driver
};
AllocatorStats allocator_stats(int device = 0);
// Waits for the device and gives every cached block back to the driver.
void release_cached(int device = 0);

// `tensor`, which belongs to another stream, is used by work on `stream`: once it is freed, its
// block waits for what `stream` was given until then.
void record_stream(const Tensor& tensor, const Stream& stream);

// The memory of work that is captured into a graph. A graph keeps the addresses it saw: blocks that
// are allocated while a `Use` of it lives go to no other work, and stay until the `GraphMemory` is
// destroyed, which must be after the last launch has finished. Allocating on a stream that is being
// captured without one throws `Error`. A `Use` is for one stream; graphs that share one memory
// share its blocks, and must be launched in one order.
class GraphMemory {
 public:
  explicit GraphMemory(int device = 0);
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();

  // The calling thread's allocations come from the memory, for a scope.
  class Use {
   public:
    explicit Use(GraphMemory& memory);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    void* before_;
    int before_device_;
  };

 private:
  int device_;
  void* pool_;
};

// Scratch memory for launches that are made while it lives: a block like any other tensor's.
class Scratch {
 public:
  Scratch(int device, int64_t size_bytes);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  void* data() const { return block_.data; }

 private:
  Device device_;
  DeviceMemory::Block block_;
};

// What storages use.
DeviceMemory& caching_memory();

}  // namespace epi::cuda
