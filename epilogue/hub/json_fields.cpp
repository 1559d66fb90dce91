// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/json_fields.h"

#include <algorithm>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/simdjson_start.h"
#include "epilogue/hub/utc_time.h"

namespace epi::hub {
namespace {

// `["key"]`, shortened.
std::string key_place(std::string_view key) {
  constexpr size_t kShown = 100;
  const bool is_long = key.size() > kShown;
  return fmt::format("[{}{}]", json_quoted(key.substr(0, kShown)), is_long ? "..." : "");
}

}  // namespace

struct JsonField::Value {
  simdjson::dom::element element;
};

JsonField::JsonField(const Value& value, std::string place)
    : value_(std::make_shared<const Value>(value)), place_(std::move(place)) {}

void JsonField::refuse(std::string_view rule) const {
  throw SchemaError(fmt::format("{}: {}", place_.empty() ? "the file" : place_, rule));
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  simdjson::dom::object object;
  if (value_->element.get(object) != simdjson::SUCCESS) refuse("must be an object");
  simdjson::dom::element found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return JsonField({found}, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

JsonField JsonField::at(std::string_view key) const {
  const auto found = find(key);
  if (!found) refuse(fmt::format("\"{}\" is missing", key));
  return *found;
}

std::string JsonField::text() const {
  std::string_view text;
  if (value_->element.get(text) != simdjson::SUCCESS) refuse("must be a string");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  if (std::ranges::any_of(text, is_control)) refuse("must not contain control characters");
  return std::string(text);
}

std::string JsonField::hash() const {
  std::string digits = text();
  const bool valid = digits.size() == 64 && std::ranges::all_of(digits, [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                     });
  if (!valid) refuse("must be 64 lowercase hex digits");
  return digits;
}

std::string JsonField::time() const {
  std::string value = text();
  if (const auto error = time_error(value); !error.empty()) refuse(error);
  return value;
}

void JsonField::allow_only(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, value] : members()) {
    if (std::ranges::find(names, name) == names.end()) value.refuse("unknown field");
  }
}

bool JsonField::boolean() const {
  bool value = false;
  if (value_->element.get(value) != simdjson::SUCCESS) refuse("must be true or false");
  return value;
}

int64_t JsonField::integer(int64_t min, int64_t max) const {
  int64_t value = 0;
  if (value_->element.get(value) != simdjson::SUCCESS || value < min || value > max) {
    refuse(fmt::format("must be an integer from {} to {}", min, max));
  }
  return value;
}

double JsonField::real() const {
  double value = 0;
  if (value_->element.get(value) != simdjson::SUCCESS) refuse("must be a number");
  return value;
}

std::vector<JsonField> JsonField::items() const {
  simdjson::dom::array array;
  if (value_->element.get(array) != simdjson::SUCCESS) refuse("must be an array");
  std::vector<JsonField> items;
  for (const auto item : array) {
    items.emplace_back(Value{item}, fmt::format("{}[{}]", place_, items.size()));
  }
  return items;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  simdjson::dom::object object;
  if (value_->element.get(object) != simdjson::SUCCESS) refuse("must be an object");
  std::vector<std::pair<std::string, JsonField>> members;
  for (const auto [key, value] : object) {
    members.emplace_back(key, JsonField({value}, place_ + key_place(key)));
  }
  return members;
}

bool JsonField::is_null() const { return value_->element.is_null(); }

std::string JsonField::json() const { return simdjson::minify(value_->element); }

namespace {

// The place of a member whose name occurs twice in its object; empty if there is none. Readers
// disagree on which of the two counts, so neither is accepted. The place is built only if there is
// one: names are as long as an attacker likes.
std::string find_duplicate(simdjson::dom::element element) {
  simdjson::dom::array array;
  if (element.get(array) == simdjson::SUCCESS) {
    size_t position = 0;
    for (const auto item : array) {
      const std::string place = find_duplicate(item);
      if (!place.empty()) return fmt::format("[{}]{}", position, place);
      ++position;
    }
  }
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return "";
  std::vector<std::string_view> keys;
  for (const auto [key, value] : object) {
    const std::string place = find_duplicate(value);
    if (!place.empty()) return key_place(key) + place;
    keys.push_back(key);
  }
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  return twice == keys.end() ? "" : key_place(*twice);
}

}  // namespace

Result<void> visit_json(std::string_view text, std::string_view path,
                        const std::function<void(const JsonField&)>& read) {
  const simdjson::padded_string padded(text);  // simdjson reads past the end
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    return failure("{}: not valid JSON: {}", path, simdjson::error_message(error));
  }
  try {
    if (const std::string place = find_duplicate(root); !place.empty()) {
      throw SchemaError(place + ": occurs more than once");
    }
    read(JsonField({root}, ""));
  } catch (const SchemaError& error) {
    return failure("{}: {}", path, error.what());
  }
  return {};
}

}  // namespace epi::hub
