// SPDX-License-Identifier: Apache-2.0
// A JSON value with its position in the file, for files with a schema. Violations are reported as
// "exports[2].threads: must be an integer from 1 to 1024".
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

// Aborts parsing of a file. Caught by `visit_json`.
struct SchemaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonField {
 public:
  struct Value;  // hides simdjson, whose header takes seconds to compile
  JsonField(const Value& value, std::string place);

  JsonField at(std::string_view key) const;  // a required member of an object
  std::optional<JsonField> find(std::string_view key) const;
  bool is_null() const;

  std::string text() const;
  std::string hash() const;  // 64 hex digits: a sha256 or a key
  std::string time() const;  // in UTC, see utc_time.h
  bool boolean() const;
  int64_t integer(int64_t min = 0, int64_t max = std::numeric_limits<int64_t>::max()) const;
  double real() const;
  std::vector<JsonField> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonField>> members() const;  // of an object

  std::string json() const;

  // Rejects other members, which are misspelled or belong to a later schema.
  void allow_only(std::initializer_list<std::string_view> names) const;
  [[noreturn]] void refuse(std::string_view rule) const;

 private:
  std::shared_ptr<const Value> value_;
  std::string place_;
};

// Calls `read` with the root value. Refuses objects with two members of the same name. `read` may
// throw `SchemaError`. `path` is used in messages.
Result<void> visit_json(std::string_view text, std::string_view path,
                        const std::function<void(const JsonField&)>& read);

// Returns the result of `read` for the root value.
template <typename Read>
auto read_json(std::string_view text, std::string_view path, Read&& read)
    -> Result<decltype(read(std::declval<const JsonField&>()))> {
  std::optional<decltype(read(std::declval<const JsonField&>()))> made;
  EPI_TRY(visit_json(text, path, [&](const JsonField& root) { made.emplace(read(root)); }));
  return *std::move(made);
}

}  // namespace epi::hub
