// SPDX-License-Identifier: Apache-2.0
// Decompresses a text into memory piece by piece, in the threads that read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"
#include "epilogue/trace/decoder.h"
#include "epilogue/trace/growing_memory.h"

namespace epi::trace {

// The bytes of a file, possibly compressed, and what a failure calls it.
struct Source {
  std::string name;
  std::string_view bytes;
  std::shared_ptr<const void> owner;
  int64_t max_unpacked_bytes = 0;
};

class Unpacker {
 public:
  // Throws GrowingMemory::NoMemory.
  Unpacker(Source source, std::unique_ptr<Decoder> decoder, size_t estimate);

  // As in InputText.
  size_t wait_for(size_t bytes);
  void read_ahead(size_t bytes);
  const char* data() const { return memory_.data(); }
  size_t expected_bytes() const { return has_ended_ ? size_ : estimate_; }
  // Once the text has ended: whether it did so at corrupt data.
  bool is_broken() const { return is_broken_; }
  // Once the text has ended: a failure if it is longer than allowed or does not fit into memory.
  Result<void> result() const;

 private:
  // Whether the first `bytes` are there, or the text has ended before.
  bool has(size_t bytes) const { return size_ >= bytes || has_ended_; }
  // False if another thread decompresses.
  bool try_decode(size_t bytes);
  void decode_piece() noexcept;
  void decode_into_memory();
  void update_estimate();

  Source source_;
  std::unique_ptr<Decoder> decoder_;
  size_t first_estimate_;
  std::atomic<size_t> estimate_;
  GrowingMemory memory_;
  std::mutex decoding_;
  std::atomic<uint32_t> attempts_ = 0;  // calls of try_decode that locked the mutex
  std::atomic<size_t> size_ = 0;
  std::atomic<bool> has_ended_ = false;
  // Set before the text ends.
  bool is_broken_ = false;
  enum class End : uint8_t { kWhole, kTooLong, kNoMemory, kNoMemoryForDecoder };
  End end_ = End::kWhole;
  size_t missing_bytes_ = 0;  // after kNoMemory
};

// An estimate of the size of the text: the size in the file, limited by the maximum compression
// ratio.
size_t estimated_bytes(const Source& source, size_t bytes_in_file);

// The messages of failures.
std::string too_long_message(const Source& source);
std::string no_memory_message(const Source& source, size_t bytes);
std::string no_memory_for_decoder_message(const Source& source);

}  // namespace epi::trace
