// SPDX-License-Identifier: Apache-2.0
// Described results as comma-separated values: the rows of the first list of a result, with the
// members that are neither lists nor objects. Numbers are those of JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "epilogue/report/description/described_json.h"

namespace epi::report {

// Quotes a cell if RFC 4180 requires it. Line breaks are shown as "\\n": one row is one line.
std::string csv_cell(std::string_view text);

template <typename T>
struct CsvCell : std::bool_constant<std::is_arithmetic_v<T> || Worded<T> ||
                                    std::is_same_v<T, Word> || Text<T>> {};
template <typename T>
struct CsvCell<std::optional<T>> : CsvCell<T> {};

template <typename T>
std::string csv_text(const T& value, Unit unit) {
  if constexpr (std::is_same_v<T, Word>) {
    return value.key;
  } else if constexpr (Worded<T>) {
    return words_of(value).key;
  } else if constexpr (Text<T>) {
    return csv_cell(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    JsonWriter json;
    DescribedJson(json, kSchema).value(value, unit);
    return json.text();
  } else {
    return value ? csv_text(*value, unit) : "";
  }
}

// Calls `use(member, type)` for each member that is a cell.
template <Described Row, typename Use>
void for_each_cell(Use&& use) {
  for_each_member<Row>([&](const auto& member) {
    using Value = std::remove_cvref_t<decltype(member.of(std::declval<const Row&>()))>;
    if constexpr (CsvCell<Value>::value) use(member);
  });
}

template <Described Row>
std::string csv_header() {
  std::string line;
  for_each_cell<Row>(
      [&](const auto& member) { line += (line.empty() ? "" : ",") + std::string(member.key); });
  return line;
}
template <Described Row>
std::string csv_row(const Row& row) {
  std::string line;
  bool is_first = true;
  for_each_cell<Row>([&](const auto& member) {
    if (!is_first) line += ',';
    is_first = false;
    line += csv_text(member.of(row), member.unit);
  });
  return line;
}

// Calls `use(rows)` with the first list of described rows of a result. False if it has none.
template <Described Result, typename Use>
bool with_first_list(const Result& result, Use&& use) {
  bool found = false;
  for_each_member<Result>([&](const auto& member) {
    decltype(auto) value = member.of(result);
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (List<Value>) {
      if constexpr (Described<std::ranges::range_value_t<Value>>) {
        if (!found) use(value);
        found = true;
      }
    }
  });
  return found;
}

}  // namespace epi::report
