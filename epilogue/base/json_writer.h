// SPDX-License-Identifier: Apache-2.0
// Writes one JSON value into a string, incrementally. The writer handles commas and escapes, the
// caller handles nesting. Invalid UTF-8 is replaced by U+FFFD, so the output always parses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace epi {

class JsonWriter {
 public:
  // Longer strings are cut.
  explicit JsonWriter(size_t max_string_bytes = SIZE_MAX) : max_string_bytes_(max_string_bytes) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& string(std::string_view value);
  JsonWriter& integer(int64_t value);
  // The shortest text that parses back to the same number. Writes null if it is not finite.
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // A number with a fixed number of decimals. Writes null if it is not finite.
  JsonWriter& fixed(double value, int decimals);
  // A number with six significant digits. Writes null if it is not finite.
  JsonWriter& significant(double value);
  // An exact number of thousandths, with three decimals: 12345 as 12.345.
  JsonWriter& thousandths(int64_t value);

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  size_t max_string_bytes_;
  std::string text_;
  bool comma_ = false;
};

// Formats a complete JSON text with one member per line and two spaces of indentation, for files
// that people read.
std::string json_indented(std::string_view text);

// The JSON string literal of `value`, quotes included.
std::string json_quoted(std::string_view value);

}  // namespace epi
