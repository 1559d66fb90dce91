// SPDX-License-Identifier: Apache-2.0
// Strings in JSON text: detecting and decoding escapes, and finding a key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epi::trace {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// No escapes, control bytes or non-ASCII characters: the text needs no decoding.
bool is_plain_string(std::string_view raw);

struct StringDefects {
  bool bad_escape = false;
  bool invalid_utf8 = false;
};

// Decodes the text of a string (without its quotes) and appends the result. Escapes that JSON does
// not define are kept as written. Invalid UTF-8 is replaced by U+FFFD.
StringDefects unescape(std::string_view raw, std::string& out);

// Like `find_value`, but faster on large objects. The key includes its quotes.
std::optional<std::string_view> find_top_level(std::string_view object,
                                               std::string_view quoted_key);

}  // namespace epi::trace
