// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/json_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "epilogue/base/utf8.h"
#include "epilogue/trace/event_args.h"

namespace epi::trace {
namespace {

size_t after_spaces(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

constexpr size_t kAbsent = SIZE_MAX;
constexpr size_t kAmbiguous = SIZE_MAX - 1;

// The position of a top-level key. The result is certain if the key comes first, or if no bracket
// opens between the object's brace and the key and no escape can hide a quote. Otherwise
// kAmbiguous.
size_t find_key_quickly(std::string_view object, std::string_view quoted_key) {
  if (object.empty()) return kAbsent;
  const size_t first = after_spaces(object, 1);
  if (first < object.size() && object.substr(first).starts_with(quoted_key)) return first;
  const void* found = ::memmem(object.data(), object.size(), quoted_key.data(), quoted_key.size());
  if (found == nullptr) return kAbsent;
  const auto at = static_cast<size_t>(static_cast<const char*>(found) - object.data());
  unsigned opened = 0;
  for (size_t i = 1; i < at; ++i) {
    const char c = object[i];
    opened |= static_cast<unsigned>(c == '{') | static_cast<unsigned>(c == '[') |
              static_cast<unsigned>(c == '\\');
  }
  size_t before = at;
  while (before > 1 && is_space(object[before - 1])) --before;
  return opened == 0 && object[before - 1] == ',' ? at : kAmbiguous;
}

std::optional<uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  const std::string_view digits = text.substr(0, 4);
  const auto parsed = std::from_chars(digits.begin(), digits.end(), value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != digits.end()) return std::nullopt;
  return value;
}

// The character of the \u escape at the front of `raw`, and the length of its text. A surrogate
// pair is one character, an unpaired surrogate becomes U+FFFD.
struct Unicode {
  uint32_t code = 0;
  size_t size = 0;  // 0: not a valid escape
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

// Appends the character of the escape at the front of `raw`. Returns the length of its text, or 0
// if the escape is invalid.
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

// No early exit, so that the compiler can vectorize the loop.
bool is_plain_string(std::string_view raw) {
  unsigned special = 0;
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    special |= static_cast<unsigned>(byte - 0x20U >= 0x60U) | static_cast<unsigned>(byte == '\\');
  }
  return special == 0;
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
  const size_t at = find_key_quickly(object, quoted_key);
  if (at == kAbsent) return std::nullopt;
  if (at == kAmbiguous) return find_value(object, quoted_key.substr(1, quoted_key.size() - 2));
  size_t begin = after_spaces(object, at + quoted_key.size());
  if (begin >= object.size() || object[begin] != ':') return std::nullopt;
  begin = after_spaces(object, begin + 1);
  size_t end = begin;
  while (end < object.size() && object[end] != ',' && object[end] != '}' &&
         !is_space(object[end])) {
    ++end;
  }
  return object.substr(begin, end - begin);
}

}  // namespace epi::trace
