// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/json_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "epilogue/base/utf8.h"
#include "epilogue/trace/args.h"

namespace epi::trace {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::optional<uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + 4) return std::nullopt;
  return value;
}

// The character of a \u escape at the front of `raw`, and how much text it takes; a pair of
// surrogates is one character, half of one is U+FFFD.
struct Unicode {
  uint32_t code = 0;
  size_t size = 0;  // 0: it is none
};
Unicode unicode_escape(std::string_view raw) {
  const auto first = hex4(raw.substr(2));
  if (!first) return {};
  if (*first < 0xD800 || *first > 0xDFFF) return {*first, 6};
  if (*first < 0xDC00 && raw.substr(6).starts_with("\\u")) {
    const auto second = hex4(raw.substr(8));
    if (second && *second >= 0xDC00 && *second <= 0xDFFF) {
      return {0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00), 12};
    }
  }
  return {0xFFFD, 6};
}

char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case '"':
    case '\\':
    case '/':
      return c;
    default:
      return '\0';
  }
}

// Appends the escape at the front of `raw`; returns how much text it took, or 0 where it is none.
size_t append_escape(std::string_view raw, std::string& out) {
  if (raw.size() < 2) return 0;
  if (raw[1] == 'u') {
    const Unicode unicode = unicode_escape(raw);
    if (unicode.size != 0) append_utf8(out, unicode.code);
    return unicode.size;
  }
  const char c = simple_escape(raw[1]);
  if (c == '\0') return 0;
  out += c;
  return 2;
}

}  // namespace

bool is_plain_string(std::string_view raw) {
  return std::all_of(raw.begin(), raw.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 &&
           c != '\\';
  });
}

StringDefects unescape(std::string_view raw, std::string& out) {
  StringDefects defects;
  while (!raw.empty()) {
    if (raw.front() == '\\') {
      const size_t size = append_escape(raw, out);
      if (size == 0) {
        defects.bad_escape = true;
        out += '\\';
      }
      raw.remove_prefix(std::max<size_t>(1, size));
      continue;
    }
    const size_t length = utf8_length(raw);
    if (length == 0) {
      defects.invalid_utf8 = true;
      append_utf8(out, 0xFFFD);
    } else {
      out.append(raw.substr(0, length));
    }
    raw.remove_prefix(std::max<size_t>(1, length));
  }
  return defects;
}

std::optional<std::string_view> find_top_level(std::string_view object,
                                               std::string_view quoted_key) {
  const void* found = ::memmem(object.data(), object.size(), quoted_key.data(), quoted_key.size());
  if (found == nullptr) return std::nullopt;
  const auto at = static_cast<size_t>(static_cast<const char*>(found) - object.data());
  // Sure only where nothing opened between the object's own brace and here: no string can hide it.
  size_t before = at;
  while (before > 0 && is_space(object[before - 1])) --before;
  const std::string_view skipped = object.substr(std::min<size_t>(1, object.size()), before - 1);
  const bool first = before == 1;
  const bool after_numbers = before > 1 && object[before - 1] == ',' &&
                             skipped.find_first_of("{[\\") == std::string_view::npos;
  if (!first && !after_numbers) {
    return find_value(object, quoted_key.substr(1, quoted_key.size() - 2));
  }
  std::string_view rest = object.substr(at + quoted_key.size());
  const auto skip_spaces = [&] {
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  };
  skip_spaces();
  if (rest.empty() || rest.front() != ':') return std::nullopt;
  rest.remove_prefix(1);
  skip_spaces();
  return rest.substr(0, rest.find_first_of(",} \n\t\r"));
}

}  // namespace epi::trace
