// SPDX-License-Identifier: Apache-2.0
// Compresses text with zlib.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace epi::trace {

// One member.
inline std::string gzip(std::string_view text, int level = 6) {
  z_stream stream{};
  ::deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace epi::trace
