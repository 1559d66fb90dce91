// SPDX-License-Identifier: Apache-2.0
// The strings of JSON text: where they hold more than they show, and what they stand for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epi::trace {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// No escape, no control byte and nothing beyond ASCII: it stands for itself.
bool is_plain_string(std::string_view raw);

struct StringDefects {
  bool bad_escape = false;
  bool invalid_utf8 = false;
};

// Appends what a string's text (without its quotes) stands for. Escapes that JSON does not have
// stay as they are written; bytes that are no UTF-8 become U+FFFD.
StringDefects unescape(std::string_view raw, std::string& out);

// As `find_value`, faster where most of a large object is not looked at. The key has its quotes.
std::optional<std::string_view> find_top_level(std::string_view object,
                                               std::string_view quoted_key);

}  // namespace epi::trace
