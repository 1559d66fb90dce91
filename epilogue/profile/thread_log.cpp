// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/thread_log.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace epi::profile {
namespace {

// Holds 8192 operators without inputs, so a new chunk is needed every one to two milliseconds.
constexpr size_t kChunkBytes = size_t{256} << 10;

}  // namespace

ThreadLog::Chunk::Chunk(size_t bytes) : capacity(bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  data = static_cast<std::byte*>(pages);
}

ThreadLog::Chunk::~Chunk() {
  if (data != nullptr) ::munmap(data, capacity);
}

ThreadLog::ThreadLog(int64_t tid, std::string thread_name, const RecordOptions& options)
    : tid_(tid), thread_name_(std::move(thread_name)), options_(options), head_(new Chunk) {
  tail_ = head_;
}

ThreadLog::~ThreadLog() {
  while (head_ != nullptr) {
    Chunk* next = head_->next.load(std::memory_order_relaxed);
    delete head_;
    head_ = next;
  }
}

// Does not retry after a failure, because a log with a gap would close the wrong ranges.
bool ThreadLog::add_chunk(size_t bytes) {
  if (ran_out_of_memory()) return false;
  try {
    Chunk* previous = std::exchange(tail_, new Chunk(std::max(bytes, kChunkBytes)));
    tail_used_ = 0;
    previous->next.store(tail_, std::memory_order_release);
    return true;
  } catch (const std::bad_alloc&) {
    out_of_memory_.store(true, std::memory_order_relaxed);
    tail_used_ = tail_->capacity;  // no further entry fits
    return false;
  }
}

const EntryHeader* LogReader::next() {
  while (read_ == chunk_->committed.load(std::memory_order_acquire)) {
    ThreadLog::Chunk* following = chunk_->next.load(std::memory_order_acquire);
    if (following == nullptr) return nullptr;
    // The writer is done with this chunk but may have committed an entry since the check above.
    if (read_ != chunk_->committed.load(std::memory_order_acquire)) break;
    if (then_ == Then::kFree) {
      log_.head_ = following;
      delete chunk_;
    }
    chunk_ = following;
    read_ = 0;
  }
  const auto* entry = reinterpret_cast<const EntryHeader*>(chunk_->data + read_);
  read_ += ThreadLog::entry_bytes(entry->payload_bytes);
  return entry;
}

}  // namespace epi::profile
