// SPDX-License-Identifier: Apache-2.0
// A JSON value with its place, for files with a schema: what is missing or of another kind is told
// as "exports[2].threads: a whole number from 1 to 1024 is needed".
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/result.h"

namespace epi::hub {

// Leaves the parser of a whole file; caught by `read_json`.
struct SchemaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonField {
 public:
  JsonField(simdjson::dom::element value, std::string place)
      : value_(value), place_(std::move(place)) {}

  JsonField at(std::string_view key) const;  // of an object that must have it
  std::optional<JsonField> find(std::string_view key) const;
  bool is_null() const { return value_.is_null(); }

  std::string text() const;
  std::string hash() const;  // 64 hex digits: a sha256, or a key
  bool boolean() const;
  int64_t integer(int64_t least = 0, int64_t most = std::numeric_limits<int64_t>::max()) const;
  double real() const;
  std::vector<JsonField> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonField>> members() const;  // of an object

  std::string json() const { return simdjson::minify(value_); }

  // Members beside these are misspelt, or of a later schema.
  void allow_only(std::initializer_list<std::string_view> names) const;
  [[noreturn]] void refuse(std::string_view rule) const;

 private:
  simdjson::dom::element value_;
  std::string place_;
};

// `read` of the whole text, which throws `SchemaError`. `path` is for messages.
template <typename Read>
auto read_json(std::string_view text, std::string_view path, Read&& read)
    -> Result<decltype(read(std::declval<const JsonField&>()))> {
  const simdjson::padded_string padded(text);  // simdjson reads past the end
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    return failure("{}: not valid JSON: {}", path, simdjson::error_message(error));
  }
  try {
    return read(JsonField(root, ""));
  } catch (const SchemaError& error) {
    return failure("{}: {}", path, error.what());
  }
}

}  // namespace epi::hub
