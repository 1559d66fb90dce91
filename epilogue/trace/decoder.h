// SPDX-License-Identifier: Apache-2.0
// Decompresses gzip and zstd piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace epi::trace {

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Writes up to `room` bytes to `to`, and returns how many. 0: the text has ended. Corrupt or
  // truncated data ends it, after the bytes that could be decompressed. Throws std::bad_alloc.
  virtual size_t decode(char* to, size_t room) = 0;
  // Whether corrupt or truncated data has ended the text.
  bool is_broken() const { return is_broken_; }
  // Compressed bytes that are not read yet.
  virtual size_t rest_bytes() const = 0;

 protected:
  bool is_broken_ = false;
};

// `compressed` outlives the decoder. A file may consist of several members or frames.
std::unique_ptr<Decoder> gzip_decoder(std::string_view compressed);
std::unique_ptr<Decoder> zstd_decoder(std::string_view compressed);

// The size of the text according to the file, which may be wrong.
struct SizeInFile {
  size_t bytes = 0;
  bool is_minimum = false;  // a shorter text is corrupt
};
SizeInFile gzip_size(std::string_view compressed);
SizeInFile zstd_size(std::string_view compressed);

}  // namespace epi::trace
