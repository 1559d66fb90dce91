// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/pinned.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/relaxed_capture.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/size_class.h"

namespace epi::cuda {
namespace {

constexpr int64_t kMinBlock = 4096;  // memory is locked in whole pages

struct PinnedBlock {
  std::byte* data = nullptr;
  int64_t bytes = 0;
  std::vector<Event> uses{};  // mark the end of each copy that uses the block
};

class PinnedCache {
 public:
  PinnedBlock* take(int64_t size_bytes) {
    const RelaxedCapture relaxed;
    const int64_t bytes = size_class_bytes(size_bytes, kMinBlock);
    const std::lock_guard lock(mutex_);
    auto& blocks = free_[bytes];
    const auto idle =
        std::find_if(blocks.begin(), blocks.end(), [](PinnedBlock* b) { return is_idle(*b); });
    PinnedBlock* block = nullptr;
    if (idle != blocks.end()) {
      block = *idle;
      block->uses.clear();
      blocks.erase(idle);
    } else {
      block = make(bytes);
    }
    in_use_[block->data] = block;
    return block;
  }

  void give_back(PinnedBlock* block) {
    const std::lock_guard lock(mutex_);
    in_use_.erase(block->data);
    free_[block->bytes].push_back(block);
  }

  // Returns the block that contains `data`, or null.
  PinnedBlock* find(const std::byte* data) {
    const std::lock_guard lock(mutex_);
    return find_locked(data);
  }

  void note_use(const std::byte* data, const Stream& stream) {
    const RelaxedCapture relaxed;
    const std::lock_guard lock(mutex_);
    PinnedBlock* block = find_locked(data);
    if (block == nullptr) return;
    std::erase_if(block->uses, [](const Event& event) { return event.is_known_done(); });
    block->uses.emplace_back();
    block->uses.back().record(stream);
  }

 private:
  static bool is_idle(const PinnedBlock& block) {
    return std::all_of(block.uses.begin(), block.uses.end(),
                       [](const Event& event) { return event.is_known_done(); });
  }

  static PinnedBlock* make(int64_t bytes) {
    void* data = nullptr;
    const auto done =
        to_result(cudaMallocHost(&data, static_cast<size_t>(bytes)), "cudaMallocHost");
    if (!done) fail("empty_pinned", "{} bytes: {}", bytes, done.error().message);
    return new PinnedBlock{static_cast<std::byte*>(data), bytes};
  }

  PinnedBlock* find_locked(const std::byte* data) {
    auto after = in_use_.upper_bound(data);
    if (after == in_use_.begin()) return nullptr;
    PinnedBlock* block = std::prev(after)->second;
    return data < block->data + block->bytes ? block : nullptr;
  }

  std::mutex mutex_;
  std::map<int64_t, std::vector<PinnedBlock*>> free_;
  std::map<const std::byte*, PinnedBlock*> in_use_;
};

// Never destroyed, because tensors in static storage may outlive every other static.
PinnedCache& cache() {
  static auto* const instance = new PinnedCache;
  return *instance;
}

}  // namespace

Tensor empty_pinned(const Dims& shape, DType dtype) {
  const int64_t bytes = empty(shape, {dtype, kMeta}).size_bytes();  // throws for invalid shapes
  PinnedBlock* block = cache().take(bytes);
  auto storage = Storage::wrap(kCpu, block->data, bytes, [block] { cache().give_back(block); });
  return {std::move(storage), {shape, contiguous_strides(shape)}, 0, dtype};
}

bool is_pinned(const Tensor& tensor) { return cache().find(tensor.storage()->data()) != nullptr; }

void note_pinned_use(const Tensor& tensor, const Stream& stream) {
  cache().note_use(tensor.storage()->data(), stream);
}

}  // namespace epi::cuda
