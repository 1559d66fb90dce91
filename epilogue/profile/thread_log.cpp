// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/thread_log.h"

#include <algorithm>

namespace epi::profile {
namespace {

// 8192 operators without their inputs: a new chunk every millisecond or two.
constexpr size_t kChunkBytes = size_t{256} << 10;

}  // namespace

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

void ThreadLog::add_chunk(size_t bytes) {
  auto chunk = std::make_unique<Chunk>();
  chunk->capacity = std::max(bytes, kChunkBytes);
  chunk->data = std::make_unique_for_overwrite<std::byte[]>(chunk->capacity);
  Chunk* before = tail_;
  tail_ = chunk.release();
  tail_used_ = 0;
  before->next.store(tail_, std::memory_order_release);
}

const EntryHeader* LogReader::next() {
  while (read_ == chunk_->committed.load(std::memory_order_acquire)) {
    ThreadLog::Chunk* following = chunk_->next.load(std::memory_order_acquire);
    if (following == nullptr) return nullptr;
    // The writer left this chunk for good, but may have committed to it since it was looked at.
    if (read_ != chunk_->committed.load(std::memory_order_acquire)) break;
    if (then_ == Then::kFree) {
      log_.head_ = following;
      delete chunk_;
    }
    chunk_ = following;
    read_ = 0;
  }
  const auto* entry = reinterpret_cast<const EntryHeader*>(chunk_->data.get() + read_);
  read_ += ThreadLog::entry_bytes(entry->payload_bytes);
  return entry;
}

}  // namespace epi::profile
