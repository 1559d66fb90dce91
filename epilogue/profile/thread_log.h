// SPDX-License-Identifier: Apache-2.0
// The append-only event log of one thread: small entries in chunks. The thread appends without
// locks. Another thread may read committed entries at any time.
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

// Followed by a payload that depends on the kind:
//   kOpBegin          packed inputs (see inputs.h)
//   kCustomOpBegin    number of input words, packed inputs, name
//   kAnnotationBegin  name
//   kEnd              nothing
//   kKernel           KernelEntry, name
//   kLaunch           LaunchEntry
//   kAllocation       AllocationEntry
struct EntryHeader {
  uint32_t payload_bytes = 0;
  EntryKind kind = EntryKind::kEnd;
  uint16_t op = 0;
  int64_t time_ns = 0;  // in now_ns() time

  const std::byte* payload() const { return reinterpret_cast<const std::byte*>(this + 1); }
  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};

struct KernelEntry {
  int64_t end_ns = 0;
  int64_t bytes = 0;
  int64_t flops = 0;
};

struct LaunchEntry {
  uint64_t id = 0;  // the external correlation id for the GPU recorder
  int64_t bytes = 0;
  int64_t flops = 0;
};

struct AllocationEntry {
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t in_use_bytes = 0;
  int64_t reserved_bytes = 0;
  int64_t device_type = 0;  // Kineto's encoding: 0 is the CPU, 1 is CUDA
  int64_t device_id = -1;   // Kineto's encoding: -1 for the CPU
};

// What to record in addition to names and times.
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

  // Allocates one entry, which the caller fills and commits. Returns null once memory has run out.
  // Only the owning thread calls `open` and `commit`.
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

  // Mapped separately, so that the memory of a recording returns to the system when it ends.
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

  // Entries are aligned to eight bytes.
  static size_t entry_bytes(size_t payload_bytes) {
    return sizeof(EntryHeader) + ((payload_bytes + 7) & ~size_t{7});
  }
  bool add_chunk(size_t bytes);

  int64_t tid_;
  std::string thread_name_;
  RecordOptions options_;
  Chunk* head_;
  Chunk* tail_;  // used by the writer only
  size_t tail_used_ = 0;
  std::atomic<bool> out_of_memory_{false};
};

// Reads committed entries in order. One reader at a time, on any thread.
class LogReader {
 public:
  enum class Then { kKeep, kFree };
  // With kFree, chunks are freed once they have been read. The last one stays for the writer.
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
