// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of described results, from the same tables as the JSON itself.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/description/described_json.h"

namespace epi::report {

// Writes schemas of values, and the definitions that they refer to.
class SchemaWriter {
 public:
  explicit SchemaWriter(JsonWriter& json) : json_(json) {}

  // The schema of a value of this type, as a complete object.
  template <typename T>
  void value(Unit unit = Unit::kNone) {
    json_.begin_object();
    body<std::remove_cvref_t<T>>(unit);
    json_.end_object();
  }

  // The properties of an object: one for each member, added to the required ones.
  template <Described T>
  void members(std::vector<std::string_view>& required) {
    for_each_member<T>([&](const auto& member) {
      using Value = std::remove_cvref_t<decltype(member.of(std::declval<const T&>()))>;
      json_.key(member.key).begin_object();
      json_.key("description").string(member.meaning);
      body<Value>(member.unit);
      json_.end_object();
      required.push_back(member.key);
    });
  }

  // Closes the properties' object: which are required, and that there are no others.
  void end_object(const std::vector<std::string_view>& required) {
    json_.key("required").begin_array();
    for (const std::string_view name : required) json_.string(name);
    json_.end_array();
    json_.key("additionalProperties").boolean(false).end_object();
  }

  // The member "$defs" of an open object: what the schemas written so far refer to.
  void definitions() {
    json_.key("$defs").begin_object();
    for (size_t i = 0; i < definitions_.size(); ++i) {  // a definition may add others
      json_.key(definitions_[i].first);
      definitions_[i].second();
    }
    json_.end_object();
  }

 private:
  // The members of the schema of T, in an open object.
  template <typename T>
  void body(Unit unit) {
    if constexpr (Described<T>) {
      json_.key("$ref").string("#/$defs/" + definition<T>());
    } else if constexpr (std::is_same_v<T, bool>) {
      json_.key("type").string("boolean");
    } else if constexpr (Worded<T>) {
      json_.key("enum").begin_array();
      std::vector<std::string_view> keys;
      for (const auto& row : Words<T>::rows()) {
        const bool is_new = std::find(keys.begin(), keys.end(), row.key) == keys.end();
        if (!is_new) continue;
        keys.push_back(row.key);
        json_.string(row.key);
      }
      json_.end_array();
    } else if constexpr (Text<T>) {
      json_.key("type").string("string");
    } else if constexpr (List<T>) {
      json_.key("type").string("array").key("items");
      value<std::ranges::range_value_t<T>>(unit);
    } else if constexpr (std::is_arithmetic_v<T>) {
      json_.key("type").string(is_json_integer<T>(unit) ? "integer" : "number");
    } else {
      optional_body(static_cast<const T*>(nullptr), unit);
    }
  }
  template <typename T>
  void optional_body(const std::optional<T>*, Unit unit) {
    json_.key("anyOf").begin_array();
    value<T>(unit);
    json_.begin_object().key("type").string("null").end_object();
    json_.end_array();
  }
  template <typename T>
  void optional_body(const NamedValues<T>*, Unit unit) {
    json_.key("type").string("object").key("additionalProperties");
    value<T>(unit);
  }

  // The name of the definition of T, which is added if it is new.
  template <Described T>
  std::string definition() {
    const auto known = names_.find(typeid(T));
    if (known != names_.end()) return known->second;
    std::string name = Description<T>::kName;
    const size_t same = ++count_[name];
    if (same > 1) name += std::to_string(same);
    names_.emplace(typeid(T), name);
    definitions_.emplace_back(name, [this] { object<T>(); });
    return name;
  }
  template <Described T>
  void object() {
    json_.begin_object().key("type").string("object").key("properties").begin_object();
    std::vector<std::string_view> required;
    members<T>(required);
    json_.end_object();
    end_object(required);
  }

  JsonWriter& json_;
  std::map<std::type_index, std::string> names_;
  std::map<std::string, size_t> count_;
  std::vector<std::pair<std::string, std::function<void()>>> definitions_;
};

}  // namespace epi::report
