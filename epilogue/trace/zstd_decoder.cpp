// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

#include "epilogue/trace/decoder.h"

namespace epi::trace {
namespace {

class ZstdDecoder : public Decoder {
 public:
  explicit ZstdDecoder(std::string_view compressed)
      : context_(::ZSTD_createDCtx()), in_{compressed.data(), compressed.size(), 0} {
    if (context_ == nullptr) throw std::bad_alloc();
    // Files written with `zstd --long=31`. The decoder allocates the window of the header, but
    // touches only what it decompresses.
    ::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, sizeof(size_t) > 4 ? 31 : 30);
  }

  size_t decode(char* to, size_t room) override {
    while (!is_broken_ && (in_.pos < in_.size || state_ != 0)) {
      ZSTD_outBuffer out{to, room, 0};
      const size_t before = in_.pos;
      state_ = ::ZSTD_decompressStream(context_.get(), &out, &in_);
      if (::ZSTD_getErrorCode(state_) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      const bool is_stuck = in_.pos == before && out.pos == 0;
      is_broken_ = ::ZSTD_isError(state_) != 0 || is_stuck;
      if (out.pos > 0) return out.pos;
    }
    return 0;
  }
  size_t rest_bytes() const override { return in_.size - in_.pos; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
  };

  std::unique_ptr<ZSTD_DCtx, Free> context_;
  ZSTD_inBuffer in_;
  size_t state_ = 0;  // 0: a frame is complete
};

}  // namespace

std::unique_ptr<Decoder> zstd_decoder(std::string_view compressed) {
  return std::make_unique<ZstdDecoder>(compressed);
}

SizeInFile zstd_size(std::string_view compressed) {
  const unsigned long long size = ::ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  const bool known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
  return known ? SizeInFile{size, true} : SizeInFile{4 * compressed.size(), false};
}

}  // namespace epi::trace
