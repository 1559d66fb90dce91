// SPDX-License-Identifier: Apache-2.0
// The members of a result: key, title, unit and meaning of each, once. JSON, its schema, Markdown,
// SQL, Parquet, Arrow and the page follow from these tables.
//
//   template <>
//   struct Description<Row> {
//     static constexpr const char* kName = "row";
//     static constexpr std::tuple kMembers{
//         Member{"count", "count", Unit::kCount, "number of calls", &Row::count}};
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace epi::report {

// The unit of a member in analysis. Each medium has one spelling for it: units.h for people,
// described_json.h for JSON.
enum class Unit : uint8_t {
  kNone,          // text, flags, enumerators, objects, lists
  kCount,         // a number of things
  kNanoseconds,   // a duration, or a time of the trace
  kMicroseconds,  // PyTorch's sums, which are rounded as PyTorch does
  kBytes,
  kFlops,
  kShare,       // 0 to 1
  kBytesPerNs,  // a bandwidth, GB/s
  kTeraflopsPerSecond,
  kNumber,  // without a unit
};

// `get` is a data member, a member function without arguments, or a function of the owner. The key
// is the one of JSON, with its unit: "busy_us".
template <typename Get>
struct Member {
  const char* key;
  const char* title;  // of a column
  Unit unit;
  const char* meaning;
  Get get;

  template <typename Owner>
  decltype(auto) of(const Owner& owner) const {
    return std::invoke(get, owner);
  }
};
template <typename Get>
Member(const char*, const char*, Unit, const char*, Get) -> Member<Get>;

// Specialized for each result.
template <typename T>
struct Description;

template <typename T>
concept Described = requires {
  Description<T>::kName;
  Description<T>::kMembers;
};

// The words for the enumerators of a type, specialized for each: `kName` names the enumeration,
// `rows()` has one row per enumerator, in their order, and `key` in a row is the spelling in JSON.
template <typename Enum>
struct Words;

template <typename T>
concept Worded = requires {
  Words<T>::kName;
  Words<T>::rows()[0].key;
};

template <Worded Enum>
const auto& words_of(Enum value) {
  return Words<Enum>::rows()[static_cast<size_t>(value)];
}

// A word of one of several enumerations.
struct Word {
  const char* owner;  // kName of the enumeration
  const char* key;

  operator std::string_view() const { return key; }
};
template <Worded Enum>
Word word_of(Enum value) {
  return {Words<Enum>::kName, words_of(value).key};
}

// Calls `visit(member)` for each member of T, in order.
template <Described T, typename Visit>
constexpr void for_each_member(Visit&& visit) {
  std::apply([&](const auto&... member) { (visit(member), ...); }, Description<T>::kMembers);
}

// The members of an object that the owner has. `kObject` is a member or a member function.
template <auto kObject, typename... Gets>
constexpr auto members_of(const std::tuple<Member<Gets>...>& members) {
  const auto inside = [](const auto& member) {
    return Member{member.key, member.title, member.unit, member.meaning,
                  [get = member.get](const auto& owner) -> decltype(auto) {
                    return std::invoke(get, std::invoke(kObject, owner));
                  }};
  };
  return std::apply([&](const auto&... member) { return std::tuple{inside(member)...}; }, members);
}

// The members of an object behind an optional member: each is absent if the object is.
template <auto kObject, typename... Gets>
constexpr auto members_through(const std::tuple<Member<Gets>...>& members) {
  const auto through = [](const auto& member) {
    return Member{member.key, member.title, member.unit, member.meaning,
                  [get = member.get](const auto& owner) {
                    const auto& object = owner.*kObject;
                    using Value = std::remove_cvref_t<decltype(std::invoke(get, *object))>;
                    return object ? std::optional<Value>(std::invoke(get, *object)) : std::nullopt;
                  }};
  };
  return std::apply([&](const auto&... member) { return std::tuple{through(member)...}; }, members);
}

// Unknown values are absent: null in JSON, a dash in tables.
inline std::optional<std::string_view> if_known(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::optional<int64_t> if_known(int64_t number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

// An object whose members are named at run time, as the times per host activity are.
template <typename T>
struct NamedValues {
  const char* owner;  // as kName of a description
  std::vector<std::pair<std::string_view, T>> values;
};

}  // namespace epi::report
