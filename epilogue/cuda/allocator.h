// SPDX-License-Identifier: Apache-2.0
// Caching allocator for device memory, by size class and stream. A freed block can be reused at
// once by later work on the same stream, because the stream executes in order. Blocks return to the
// driver only when memory runs out or `release_cached` is called.
#pragma once

#include <cstdint>
#include <memory>

#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/device_memory.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

// Waits for the device, then returns every cached block to the driver.
void release_cached(int device = 0);

// Records that work on `stream` uses `tensor`, which was allocated on another stream. When the
// tensor is freed, its block is not reused before the work queued on `stream` by then is done.
void record_stream(const Tensor& tensor, const Stream& stream);

// Memory for work that is captured into a CUDA graph. A graph replays the addresses it captured, so
// blocks allocated during a `Use` serve no other work and stay allocated until the `GraphMemory` is
// destroyed. Destroy it only after the last graph launch has finished. Allocating on a capturing
// stream without a `Use` throws `Error`. A `Use` serves one stream. Graphs that share a
// `GraphMemory` share its blocks and must be launched in a fixed order.
class GraphMemory {
 public:
  explicit GraphMemory(int device = 0);
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();

  // Scope in which the calling thread allocates from `memory`.
  class Use {
   public:
    explicit Use(GraphMemory& memory);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    void* previous_pool_;
    int previous_device_;
  };

 private:
  int device_;
  void* pool_;
};

// Scratch memory for kernels launched during its lifetime, allocated like a tensor.
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

// The allocator behind tensor storage.
DeviceMemory& caching_memory();

}  // namespace epi::cuda
