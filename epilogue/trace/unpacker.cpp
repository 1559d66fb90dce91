// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/unpacker.h"

#include <algorithm>
#include <new>
#include <utility>

namespace epi::trace {
namespace {

// Two windows, which are parsed while they are in a cache.
constexpr size_t kPieceBytes = size_t{1} << 20;

// One byte more than the limit shows that the text is longer.
size_t max_room(const Source& source) { return static_cast<size_t>(source.max_unpacked_bytes) + 1; }

}  // namespace

size_t expected_bytes(const Source& source, size_t bytes_in_file) {
  constexpr size_t kMaxRatio = 1100;
  return std::min({bytes_in_file + 1, source.bytes.size() * kMaxRatio, max_room(source)});
}

std::string too_long_message(const Source& source) {
  return fmt::format("{}: decompresses to more than {} bytes; max_unpacked sets the limit",
                     source.name, source.max_unpacked_bytes);
}

std::string no_memory_message(const Source& source, size_t bytes) {
  return fmt::format(
      "{}: decompressing it needs {} bytes of memory, which are not available; max_unpacked sets a "
      "lower limit",
      source.name, bytes);
}

Unpacker::Unpacker(Source source, std::unique_ptr<Decoder> decoder, size_t expected_bytes)
    : source_(std::move(source)),
      decoder_(std::move(decoder)),
      expected_bytes_(expected_bytes),
      memory_(expected_bytes_, max_room(source_)) {}

size_t Unpacker::wait_for(size_t bytes) {
  while (!has(bytes)) {
    const uint32_t attempts = attempts_;
    if (!try_decode(bytes)) attempts_.wait(attempts);
  }
  return std::min(size_.load(), bytes);
}

void Unpacker::read_ahead(size_t bytes) {
  while (!has(bytes) && try_decode(bytes)) {
  }
}

Result<void> Unpacker::result() const {
  if (!failure_.empty()) return failure("{}", failure_);
  return {};
}

// A thread that finds the mutex locked waits for the count to change. It is changed after the mutex
// is unlocked, so that no thread waits without another that will change it.
bool Unpacker::try_decode(size_t bytes) {
  {
    const std::unique_lock lock(decoding_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    if (!has(bytes)) decode_piece();
  }
  ++attempts_;
  attempts_.notify_all();
  return true;
}

void Unpacker::decode_piece() {
  try {
    decode_into_memory();
  } catch (const GrowingMemory::NoMemory& error) {
    failure_ = no_memory_message(source_, error.bytes);
  } catch (const std::bad_alloc&) {  // of the decoder
    failure_ = no_memory_message(source_, memory_.room());
  }
  if (!failure_.empty()) has_ended_ = true;
}

void Unpacker::decode_into_memory() {
  if (size_ == memory_.room()) memory_.grow();
  const size_t room = std::min(memory_.room() - size_, kPieceBytes);
  const size_t bytes = decoder_->decode(memory_.data() + size_, room);
  size_ += bytes;
  if (size_ > static_cast<size_t>(source_.max_unpacked_bytes)) {
    failure_ = too_long_message(source_);
  } else if (bytes == 0) {
    is_broken_ = decoder_->is_broken();
    decoder_.reset();
    source_.owner.reset();
    memory_.stop_growing();
    has_ended_ = true;
  }
}

}  // namespace epi::trace
