// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "epilogue/base/utf8.h"
#include "epilogue/base/visible_text.h"

namespace epi {
namespace {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (is_control(byte)) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string json_quoted(std::string_view value) {
  std::string out = "\"";
  while (!value.empty()) {
    const size_t length = utf8_length(value);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length == 1) {
      append_escaped(out, value[0]);
    } else if (const uint32_t code = utf8_code(value); is_control(code)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    } else {
      out += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  return out += '"';
}

void JsonWriter::separate() {
  if (comma_) text_ += ", ";
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  text_ += json_quoted(name);
  text_ += ": ";
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  size_t size = value.size();
  if (size > max_string_bytes_) {
    size = max_string_bytes_;
    while (size > 0 && (static_cast<unsigned char>(value[size]) & 0xC0) == 0x80) --size;
  }
  text_ += json_quoted(value.substr(0, size));
  return *this;
}

JsonWriter& JsonWriter::integer(int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::significant(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  fmt::format_to(std::back_inserter(text_), "{:.6g}", value);
  return *this;
}

JsonWriter& JsonWriter::thousandths(int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}{}.{:03}", value < 0 ? "-" : "",
                 std::abs(value / 1000), std::abs(value % 1000));
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::fixed(double value, int decimals) {
  if (!std::isfinite(value)) return null();
  separate();
  fmt::format_to(std::back_inserter(text_), "{:.{}f}", value, decimals);
  return *this;
}

std::string json_indented(std::string_view text) {
  std::string out;
  size_t depth = 0;
  bool in_string = false;
  const auto new_line = [&] { out += '\n' + std::string(2 * depth, ' '); };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      in_string = c != '"';
      continue;
    }
    if (c == ' ' || c == '\n') continue;
    in_string = c == '"';
    const bool opens = c == '{' || c == '[';
    const bool closes = c == '}' || c == ']';
    const bool is_empty = closes && (out.ends_with('{') || out.ends_with('['));
    if (closes) --depth;
    if (closes && !is_empty) new_line();
    out += c;
    if (opens) ++depth;
    if (c == ',' || (opens && text[i + 1] != '}' && text[i + 1] != ']')) new_line();
    if (c == ':') out += ' ';
  }
  return out + '\n';
}

}  // namespace epi
