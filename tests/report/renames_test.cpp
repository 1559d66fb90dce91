// SPDX-License-Identifier: Apache-2.0
// The table of the names of schema 1 (renames.def).
#include "epilogue/report/description/renames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "epilogue/report/advise/advice_check_report.h"
#include "epilogue/report/advise/advise_report.h"
#include "epilogue/report/compare/compare_report.h"
#include "epilogue/report/expect/expect_report.h"
#include "epilogue/report/kernels/gemm_report.h"
#include "epilogue/report/page/page.h"
#include "epilogue/report/ranks/ranks_report.h"
#include "epilogue/report/screen/first_screen.h"
#include "epilogue/report/steps/breakdown_report.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/steps/steps_report.h"
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/report/tree/tree_report.h"

namespace epi::report {
namespace {

// The results of the verbs. Their members lead to all other described types and enumerations.
template <typename... Ts>
struct Types {};
using Results = Types<AdviceCheckResult, AdviseResult, BreakdownResult, CompareResult, CriticalPath,
                      ExpectResult, ExplainedNames, ExplainedTrace, GemmsResult, RanksResult,
                      StepsResult, SummaryResult, TableResult, TreeResult, WrittenPage>;

struct Object {
  std::string owner;
  std::vector<std::string> keys;
  std::vector<std::string> old_keys;
};

// Every described type, and every enumeration as an object with its values as keys.
class Objects {
 public:
  Objects() {
    add_results(Results{});
    // What limits a path is a bound or a limiter.
    add<analysis::Bound>();
    add_named(host_times({}));
    add_named(class_times({}));
  }
  const std::vector<Object>& all() const { return all_; }

 private:
  template <typename... Ts>
  void add_results(Types<Ts...>) {
    (add<Ts>(), ...);
  }
  // A described type, an enumeration, or a container of one.
  template <typename T>
  void add() {
    if constexpr (Described<T>) {
      if (!seen_.insert(typeid(T)).second) return;
      Object object{Description<T>::kName, {}, {}};
      for_each_member<T>([&](const auto& member) {
        object.keys.emplace_back(member.key);
        add<ValueOf<T, decltype(member)>>();
      });
      add_old_keys<T>(object.old_keys);
      all_.push_back(std::move(object));
    } else if constexpr (Worded<T>) {
      Object object{Words<T>::kName, {}, {}};
      for (const auto& row : Words<T>::rows()) object.keys.emplace_back(row.key);
      all_.push_back(std::move(object));
    } else if constexpr (requires { typename T::value_type; }) {
      add<std::remove_cvref_t<typename T::value_type>>();
    }
  }
  template <typename T>
  void add_named(const NamedValues<T>& named) {
    Object object{named.owner, {}, {}};
    for (const auto& [name, value] : named.values) {
      object.keys.emplace_back(name);
      object.old_keys.emplace_back(old_key(named.owner, name));
    }
    all_.push_back(std::move(object));
  }
  template <Described T>
  static void add_old_keys(std::vector<std::string>& keys) {
    for_each_member<T>([&](const auto& member) {
      const std::string_view key = old_key(Description<T>::kName, member.key);
      using Value = ValueOf<T, decltype(member)>;
      if constexpr (Described<Value>) {
        if (key.empty()) return add_old_keys<Value>(keys);
      }
      keys.emplace_back(key);
    });
  }
  template <typename T, typename Member>
  using ValueOf =
      std::remove_cvref_t<decltype(std::declval<Member>().of(std::declval<const T&>()))>;

  std::set<std::type_index> seen_;
  std::vector<Object> all_;
};

void expect_unique(const Object& object, std::vector<std::string> keys, const char* schema) {
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) ADD_FAILURE() << *twice << " in " << object.owner << ", " << schema;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Renames, BelongToMembersAndValues) {
  const Objects objects;
  for (const Rename& one : renames()) {
    const bool found =
        std::any_of(objects.all().begin(), objects.all().end(), [&](const Object& object) {
          const auto& keys = object.keys;
          return object.owner == one.owner &&
                 std::find(keys.begin(), keys.end(), one.name) != keys.end();
        });
    EXPECT_TRUE(found) << one.owner << " has no " << one.name;
  }
}

TEST(Renames, AreListedOnce) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const Rename& one : renames()) {
    EXPECT_TRUE(names.emplace(one.owner, one.name).second) << one.owner << " " << one.name;
    EXPECT_NE(one.name, one.old_name);
  }
}

TEST(Json, HasNoKeyTwiceInAnObject) {
  const Objects objects;
  for (const Object& object : objects.all()) {
    // Two limiters have the same word.
    if (object.owner == Words<analysis::Limiter>::kName) continue;
    if (object.owner == Words<RankRegime>::kName) continue;
    expect_unique(object, object.keys, "schema 2");
    expect_unique(object, object.old_keys, "schema 1");
  }
}

TEST(Json, HasNoSpacesInNamesAndValues) {
  const Objects objects;
  for (const Object& object : objects.all()) {
    for (const std::string& key : object.keys) {
      EXPECT_EQ(key.find_first_of(" -"), std::string::npos) << key << " in " << object.owner;
    }
  }
}

TEST(Changelog, ListsRenames) {
  const std::string text = text_of_file(EPI_TEST_DATA "/../../CHANGELOG.md");
  for (const Rename& one : renames()) {
    const std::string before = one.old_name.empty() ? "" : '`' + std::string(one.old_name) + '`';
    const std::string row = before + " → `" + std::string(one.name) + '`';
    EXPECT_NE(text.find(row), std::string::npos) << row << " of " << one.owner;
  }
}

}  // namespace
}  // namespace epi::report
