// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/unpacker.h"

#include <fmt/format.h>

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

size_t estimated_bytes(const Source& source, size_t bytes_in_file) {
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

std::string no_memory_for_decoder_message(const Source& source) {
  return fmt::format("{}: there is not enough memory to decompress it", source.name);
}

Unpacker::Unpacker(Source source, std::unique_ptr<Decoder> decoder, size_t estimate)
    : source_(std::move(source)),
      decoder_(std::move(decoder)),
      first_estimate_(estimate),
      estimate_(estimate),
      memory_(estimate, max_room(source_)) {}

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

// Assumes that the rest of the file is compressed like the part before.
void Unpacker::update_estimate() {
  const size_t total = source_.bytes.size();
  const size_t read = total - decoder_->rest_bytes();
  if (read == 0) return;
  const double ratio = static_cast<double>(total) / static_cast<double>(read);
  estimate_ = std::max(first_estimate_, static_cast<size_t>(static_cast<double>(size_) * ratio));
}

Result<void> Unpacker::result() const {
  switch (end_) {
    case End::kTooLong:
      return failure("{}", too_long_message(source_));
    case End::kNoMemory:
      return failure("{}", no_memory_message(source_, missing_bytes_));
    case End::kNoMemoryForDecoder:
      return failure("{}", no_memory_for_decoder_message(source_));
    case End::kWhole:
      break;
  }
  return {};
}

// A thread that finds the mutex locked waits for the count to change. It is changed after the mutex
// is unlocked, so that no thread waits without another that will change it. The mutex of pthreads
// does not fail to lock without a reason, as the standard would allow.
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

// After an exception, the threads that wait for the count would do so for ever.
void Unpacker::decode_piece() noexcept {
  try {
    decode_into_memory();
  } catch (const GrowingMemory::NoMemory& error) {
    end_ = End::kNoMemory;
    missing_bytes_ = error.bytes;
  } catch (const std::bad_alloc&) {
    end_ = End::kNoMemoryForDecoder;
  }
  if (end_ != End::kWhole) has_ended_ = true;
}

void Unpacker::decode_into_memory() {
  if (size_ == memory_.room()) memory_.grow();
  const size_t room = std::min(memory_.room() - size_, kPieceBytes);
  const size_t bytes = decoder_->decode(memory_.data() + size_, room);
  size_ += bytes;
  update_estimate();
  if (size_ > static_cast<size_t>(source_.max_unpacked_bytes)) {
    end_ = End::kTooLong;
  } else if (bytes == 0) {
    is_broken_ = decoder_->is_broken();
    decoder_.reset();
    source_.owner.reset();
    memory_.stop_growing();
    has_ended_ = true;
  }
}

}  // namespace epi::trace
