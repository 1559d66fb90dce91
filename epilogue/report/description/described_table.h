// SPDX-License-Identifier: Apache-2.0
// Described results as a table for people: one row each, and the columns that are asked for.
#pragma once

#include <algorithm>
#include <cstring>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "epilogue/report/description/described_json.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"

namespace epi::report {

// A number in words, such as "347.6 us" and "65.8 %".
std::string number_text(double value, Unit unit);

// The text of a value: the only place where members become text in tables.
template <typename T>
std::string cell_text(const T& value, Unit unit) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (Worded<T>) {
    return words_of(value).key;
  } else if constexpr (Text<T>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    // A dash is easier to overlook than "0 ns".
    const bool is_no_time = unit == Unit::kNanoseconds && value == 0;
    return is_no_time ? "-" : number_text(static_cast<double>(value), unit);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? cell_text(*value, unit) : "-";
  } else {
    return "";
  }
}

struct DescribedColumn {
  const char* key;
  const char* title = nullptr;  // instead of the member's
};

// The members with these keys as columns. Text is aligned to the left, numbers to the right.
template <std::ranges::range Rows>
Table described_table(const Rows& rows, const std::vector<DescribedColumn>& columns) {
  using Row = std::ranges::range_value_t<Rows>;
  const auto with_member = [&](const char* key, auto&& use) {
    for_each_member<Row>([&](const auto& member) {
      if (std::strcmp(member.key, key) == 0) use(member);
    });
  };
  std::vector<Table::Column> titles;
  for (const DescribedColumn& column : columns) {
    with_member(column.key, [&](const auto& member) {
      titles.push_back({column.title != nullptr ? column.title : member.title,
                        member.unit == Unit::kNone ? Align::kLeft : Align::kRight});
    });
  }
  Table table(std::move(titles));
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const DescribedColumn& column : columns) {
      with_member(column.key, [&](const auto& member) {
        cells.push_back(cell_text(member.of(row), member.unit));
      });
    }
    table.add_row(std::move(cells));
  }
  return table;
}

// Whether any row has a value other than zero in the member with this key.
template <std::ranges::range Rows>
bool has_values(const Rows& rows, const char* key) {
  using Row = std::ranges::range_value_t<Rows>;
  bool any = false;
  for_each_member<Row>([&](const auto& member) {
    if (std::strcmp(member.key, key) != 0) return;
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(member.of(*rows.begin()))>>) {
      any = std::any_of(rows.begin(), rows.end(),
                        [&](const auto& row) { return member.of(row) != 0; });
    }
  });
  return any;
}

}  // namespace epi::report
