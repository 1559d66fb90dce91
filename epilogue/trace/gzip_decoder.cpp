// SPDX-License-Identifier: Apache-2.0
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "epilogue/trace/decoder.h"

namespace epi::trace {
namespace {

class GzipDecoder : public Decoder {
 public:
  explicit GzipDecoder(std::string_view compressed) : rest_(compressed) { start_member(); }

  size_t decode(char* to, size_t room) override {
    constexpr size_t kMaxBytes = size_t{1} << 30;  // ISA-L counts in 32 bits
    while (!has_ended_) {
      const auto in_bytes = static_cast<uint32_t>(std::min(rest_.size(), kMaxBytes));
      const auto out_bytes = static_cast<uint32_t>(std::min(room, kMaxBytes));
      state_.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(rest_.data()));
      state_.avail_in = in_bytes;
      state_.next_out = reinterpret_cast<uint8_t*>(to);
      state_.avail_out = out_bytes;
      const int result = ::isal_inflate(&state_);
      const size_t consumed = in_bytes - state_.avail_in;
      const size_t produced = out_bytes - state_.avail_out;
      rest_.remove_prefix(consumed);
      const bool is_stuck = consumed == 0 && produced == 0;
      if (result == ISAL_DECOMP_OK && state_.block_state == ISAL_BLOCK_FINISH) {
        end_member();
      } else if (result < 0 || is_stuck) {
        is_broken_ = has_ended_ = true;
      }
      if (produced > 0) return produced;
    }
    return write_rest(to, room);
  }
  size_t rest_bytes() const override { return rest_.size(); }

 private:
  // After an error, ISA-L keeps what it decompressed in advance.
  size_t write_rest(char* to, size_t room) {
    const auto rest = static_cast<size_t>(state_.tmp_out_valid - state_.tmp_out_processed);
    const size_t bytes = std::min(room, rest);
    std::memcpy(to, state_.tmp_out_buffer + state_.tmp_out_processed, bytes);
    state_.tmp_out_processed += static_cast<int32_t>(bytes);
    return bytes;
  }

  void start_member() {
    ::isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  void end_member() {
    // Whole bytes that were read ahead belong to the next member.
    const auto unused = static_cast<size_t>(state_.read_in_length / 8);
    rest_ = {rest_.data() - unused, rest_.size() + unused};
    // Some writers pad the file with zeros.
    rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of('\0')));
    has_ended_ = rest_.empty();
    if (!has_ended_) start_member();
  }

  std::string_view rest_;
  bool has_ended_ = false;
  inflate_state state_{};
};

}  // namespace

std::unique_ptr<Decoder> gzip_decoder(std::string_view compressed) {
  return std::make_unique<GzipDecoder>(compressed);
}

// The file ends with the size of its last member, modulo 2^32.
SizeInFile gzip_size(std::string_view compressed) {
  if (compressed.size() < 18) return {};
  uint32_t size = 0;
  // gzip is little-endian, like x86-64 and AArch64.
  std::memcpy(&size, compressed.data() + compressed.size() - 4, 4);
  return {std::max<size_t>(size, compressed.size()), false};
}

}  // namespace epi::trace
