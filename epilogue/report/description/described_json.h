// SPDX-License-Identifier: Apache-2.0
// Described results as JSON, in the current schema or with the names of schema 1.
#pragma once

#include <concepts>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/description/renames.h"

namespace epi::report {

inline constexpr int kSchema = 2;

// Whether members of this type and unit are integers in JSON. Times are in microseconds.
template <typename T>
constexpr bool is_json_integer(Unit unit) {
  return std::is_integral_v<T> && unit != Unit::kNanoseconds && unit != Unit::kMicroseconds;
}

template <typename T>
concept Text = std::convertible_to<T, std::string_view>;
template <typename T>
concept List = std::ranges::range<T> && !Text<T>;

// Writes values of described types, each under the names of one schema.
class DescribedJson {
 public:
  DescribedJson(JsonWriter& json, int schema) : json_(json), schema_(schema) {}

  JsonWriter& json() { return json_; }

  // Writes the members into an open object.
  template <Described T>
  void members(const T& owner) {
    for_each_member<T>([&](const auto& member) {
      const std::string_view key = name_of(Description<T>::kName, member.key);
      decltype(auto) one = member.of(owner);
      if constexpr (Described<std::remove_cvref_t<decltype(one)>>) {
        if (key.empty()) return members(one);  // schema 1 has them in this object
      }
      json_.key(key);
      value(one, member.unit);
    });
  }

  template <typename T>
  void value(const T& one, Unit unit = Unit::kNone) {
    if constexpr (Described<T>) {
      json_.begin_object();
      members(one);
      json_.end_object();
    } else if constexpr (std::is_same_v<T, bool>) {
      json_.boolean(one);
    } else if constexpr (Worded<T>) {
      value(word_of(one));
    } else if constexpr (std::is_same_v<T, Word>) {
      json_.string(name_of(one.owner, one.key));
    } else if constexpr (Text<T>) {
      json_.string(one);
    } else if constexpr (List<T>) {
      json_.begin_array();
      for (const auto& item : one) value(item, unit);
      json_.end_array();
    } else if constexpr (std::is_arithmetic_v<T>) {
      number(one, unit);
    } else {
      optional(one, unit);
    }
  }

 private:
  std::string_view name_of(std::string_view owner, std::string_view name) const {
    return schema_ == 1 ? old_key(owner, name) : name;
  }
  template <typename T>
  void optional(const std::optional<T>& one, Unit unit) {
    one ? value(*one, unit) : static_cast<void>(json_.null());
  }
  template <typename T>
  void optional(const NamedValues<T>& named, Unit unit) {
    json_.begin_object();
    for (const auto& [name, one] : named.values) {
      json_.key(name_of(named.owner, name));
      value(one, unit);
    }
    json_.end_object();
  }
  template <typename T>
  void number(T one, Unit unit) {
    if (unit == Unit::kNanoseconds) {
      if constexpr (std::is_integral_v<T>) {
        json_.thousandths(static_cast<int64_t>(one));
      } else {
        json_.fixed(one / 1000, 3);
      }
    } else if (unit == Unit::kMicroseconds) {
      json_.fixed(static_cast<double>(one), 3);
    } else if constexpr (std::is_integral_v<T>) {
      json_.integer(static_cast<int64_t>(one));
    } else if (unit == Unit::kNumber) {
      json_.real(one);
    } else {
      json_.significant(one);
    }
  }

  JsonWriter& json_;
  int schema_;
};

}  // namespace epi::report
