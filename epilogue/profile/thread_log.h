// SPDX-License-Identifier: Apache-2.0
// What one thread did, as an append-only log of small entries in chunks. The thread appends without
// locks; another may read what is committed at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace epi::profile {

enum class EntryKind : uint8_t {
  kOpBegin,
  kCustomOpBegin,
  kAnnotationBegin,
  kEnd,
  kKernel,
  kLaunch,
  kAllocation
};

// Followed by the payload of its kind: inputs (see inputs.h); how many words of inputs, those and a
// name; a name; KernelEntry and a name; LaunchEntry; AllocationEntry.
struct EntryHeader {
  uint32_t payload_bytes = 0;
  EntryKind kind = EntryKind::kEnd;
  uint8_t op = 0;
  int64_t time_ns = 0;  // of now_ns()

  const std::byte* payload() const { return reinterpret_cast<const std::byte*>(this + 1); }
  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};

struct KernelEntry {
  int64_t end_ns = 0;
  int64_t bytes = 0;
  int64_t flops = 0;
};

struct LaunchEntry {
  uint64_t id = 0;  // what the GPU's recorder calls it
  int64_t bytes = 0;
  int64_t flops = 0;
};

struct AllocationEntry {
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t in_use_bytes = 0;
  int64_t reserved_bytes = 0;
  int64_t device_type = 0;  // Kineto's: 0 is the CPU, 1 is CUDA
  int64_t device_id = -1;   // Kineto's: -1 for the CPU
};

// What a recording keeps beside names and times.
struct RecordOptions {
  bool record_shapes = false;  // inputs: shapes, strides, dtypes and scalars
  bool profile_memory = false;
};

class ThreadLog {
 public:
  ThreadLog(int64_t tid, std::string thread_name, const RecordOptions& options);
  ThreadLog(const ThreadLog&) = delete;
  ThreadLog& operator=(const ThreadLog&) = delete;
  ~ThreadLog();

  int64_t tid() const { return tid_; }
  const std::string& thread_name() const { return thread_name_; }
  const RecordOptions& options() const { return options_; }
  bool ran_out_of_memory() const { return out_of_memory_.load(std::memory_order_relaxed); }

  // Room for one entry, to be filled and then committed; null where memory ran out, from then on.
  // Only the thread itself calls these.
  EntryHeader* open(EntryKind kind, size_t payload_bytes) {
    const size_t bytes = entry_bytes(payload_bytes);
    if (tail_->capacity - tail_used_ < bytes && !add_chunk(bytes)) [[unlikely]]
      return nullptr;
    auto& entry = *reinterpret_cast<EntryHeader*>(tail_->data + tail_used_);
    entry.payload_bytes = static_cast<uint32_t>(payload_bytes);
    entry.kind = kind;
    tail_used_ += bytes;
    return &entry;
  }
  void commit() { tail_->committed.store(tail_used_, std::memory_order_release); }

 private:
  friend class LogReader;

  // Pages of its own, so that a recording's memory goes back to the system when it is over.
  struct Chunk {
    Chunk() = default;
    explicit Chunk(size_t bytes);  // throws std::bad_alloc
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk();

    std::byte* data = nullptr;
    size_t capacity = 0;
    std::atomic<size_t> committed{0};
    std::atomic<Chunk*> next{nullptr};
  };

  // Entries begin at multiples of eight.
  static size_t entry_bytes(size_t payload_bytes) {
    return sizeof(EntryHeader) + ((payload_bytes + 7) & ~size_t{7});
  }
  bool add_chunk(size_t bytes);

  int64_t tid_;
  std::string thread_name_;
  RecordOptions options_;
  Chunk* head_;
  Chunk* tail_;  // the writer's
  size_t tail_used_ = 0;
  std::atomic<bool> out_of_memory_{false};
};

// Walks what was committed, in order. One reader at a time, in any thread.
class LogReader {
 public:
  enum class Then { kKeep, kFree };
  // With kFree, chunks are given back once they have been read; the last one stays for its writer.
  LogReader(ThreadLog& log, Then then) : log_(log), chunk_(log.head_), then_(then) {}

  // Null at the end. The entry is valid until the next call.
  const EntryHeader* next();

 private:
  ThreadLog& log_;
  ThreadLog::Chunk* chunk_;
  Then then_;
  size_t read_ = 0;
};

}  // namespace epi::profile
