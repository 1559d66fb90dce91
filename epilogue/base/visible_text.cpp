// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/visible_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/utf8.h"

namespace epi {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

bool is_line_break(char c) { return c == '\n' || c == '\t'; }

}  // namespace

bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) ||        // C0, DEL, C1
         code == 0x061C || code == 0x200E || code == 0x200F ||  // marks of direction
         (code >= 0x2028 && code <= 0x202E) ||  // separators of lines, embeddings, overrides
         (code >= 0x2066 && code <= 0x2069);    // isolates
}

std::string visible_text(std::string_view text, LineBreaks line_breaks) {
  const bool keep = line_breaks == LineBreaks::kKeep;
  const auto is_safe = [&](char c) { return is_plain(c) || (keep && is_line_break(c)); };
  std::string out;
  while (!text.empty()) {
    const auto special = std::ranges::find_if_not(text, is_safe);
    out.append(text.begin(), special);
    text.remove_prefix(static_cast<size_t>(special - text.begin()));
    if (text.empty()) break;
    const size_t length = utf8_length(text);
    const uint32_t code = length == 0 ? 0 : utf8_code(text);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (!is_control(code)) {
      out += text.substr(0, length);
    } else if (is_line_break(text[0])) {
      out += text[0] == '\n' ? "\\n" : "\\t";
    } else {
      out += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace epi
