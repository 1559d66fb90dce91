// SPDX-License-Identifier: Apache-2.0
// A JSON value with its place, for files with a schema: what is missing or of another kind is told
// as "exports[2].threads: a whole number from 1 to 1024 is needed".
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/result.h"

namespace epi::hub {

// Leaves the parser of a whole file; caught by `visit_json`.
struct SchemaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonField {
 public:
  struct Value;  // the parser's: its header takes seconds to compile
  JsonField(const Value& value, std::string place);

  JsonField at(std::string_view key) const;  // of an object that must have it
  std::optional<JsonField> find(std::string_view key) const;
  bool is_null() const;

  std::string text() const;
  std::string hash() const;  // 64 hex digits: a sha256, or a key
  bool boolean() const;
  int64_t integer(int64_t least = 0, int64_t most = std::numeric_limits<int64_t>::max()) const;
  double real() const;
  std::vector<JsonField> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonField>> members() const;  // of an object

  std::string json() const;

  // Members beside these are misspelt, or of a later schema.
  void allow_only(std::initializer_list<std::string_view> names) const;
  [[noreturn]] void refuse(std::string_view rule) const;

 private:
  std::shared_ptr<const Value> value_;
  std::string place_;
};

// Calls `read` with the root of the text; `read` may throw `SchemaError`. `path` is for messages.
Result<void> visit_json(std::string_view text, std::string_view path,
                        const std::function<void(const JsonField&)>& read);

// What `read` makes of the root of the text.
template <typename Read>
auto read_json(std::string_view text, std::string_view path, Read&& read)
    -> Result<decltype(read(std::declval<const JsonField&>()))> {
  std::optional<decltype(read(std::declval<const JsonField&>()))> made;
  EPI_TRY(visit_json(text, path, [&](const JsonField& root) { made.emplace(read(root)); }));
  return *std::move(made);
}

}  // namespace epi::hub
