// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/name_rules.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "epilogue/analysis/names/known_names_text.h"
#include "epilogue/base/error.h"
#include "epilogue/base/join.h"

namespace epi::analysis {
namespace {

// Parses the text of an enum value. `last` is the enum's last value.
template <typename Enum>
bool from_text(std::string_view text, Enum last, Enum& out) {
  for (int i = 1; i <= static_cast<int>(last); ++i) {
    if (text_of(static_cast<Enum>(i)) != text) continue;
    out = static_cast<Enum>(i);
    return true;
  }
  return false;
}

template <typename Enum>
std::string words_of(Enum last) {
  std::vector<std::string_view> words;
  for (int i = 1; i <= static_cast<int>(last); ++i) words.push_back(text_of(static_cast<Enum>(i)));
  return join(words, ", ");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Parses a field such as "kind=gemm". Returns an error message, or an empty string.
std::string parse_field(const std::string& word, DecodedName& fields) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (value.empty()) return fmt::format("\"{}\" needs a value, as in kind=gemm", word);
  if (key == "library") {
    if (!from_text(value, kLastLibrary, fields.library)) {
      fields.library = Library::kNamed;
      fields.library_name = value;
    }
  } else if (key == "kind") {
    if (!from_text(value, Kind::kMemset, fields.kind))
      return fmt::format("\"{}\" is not a kind; valid kinds: {}", value, words_of(Kind::kMemset));
  } else if (key == "dtype") {
    if (!from_text(value, NumberType::kC128, fields.dtype)) {
      return fmt::format("\"{}\" is not a dtype; valid dtypes: {}", value,
                         words_of(NumberType::kC128));
    }
  } else if (key == "ops") {
    fields.ops = split(value, ',');
    for (const std::string& op : fields.ops) {
      if (op.empty()) return fmt::format("\"{}\" contains an empty operator name", word);
    }
  } else {
    return fmt::format("unknown field \"{}\"; valid fields: library, kind, dtype, ops", key);
  }
  return {};
}

// Iterative: the cost is at most the pattern's length times the text's, however many stars there
// are.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

thread_local std::shared_ptr<const NameRules> rules_in_use;

}  // namespace

Result<NameRules> parse_name_rules(std::string_view text, const std::string& source) {
  NameRules rules;
  std::istringstream lines{std::string(text)};
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    NameRule rule;
    if (!(words >> rule.pattern) || rule.pattern.starts_with('#')) continue;
    size_t field_count = 0;
    for (std::string word; words >> word && !word.starts_with('#'); ++field_count) {
      const std::string error = parse_field(word, rule.fields);
      if (!error.empty()) return failure("{}:{}: {}", source, number, error);
    }
    if (field_count == 0) {
      return failure("{}:{}: the pattern needs at least one field, such as kind=gemm", source,
                     number);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

const NameRule* find_rule(const NameRules& rules, std::string_view function) {
  for (const NameRule& rule : rules) {
    if (matches(rule.pattern, function)) return &rule;
  }
  return nullptr;
}

const NameRules& known_names() {
  static const NameRules rules = [] {
    auto parsed = parse_name_rules(kKnownNamesText, "known_names.txt");
    if (!parsed) throw BugError(parsed.error().message);
    return std::move(*parsed);
  }();
  return rules;
}

NamesInUse::NamesInUse(std::shared_ptr<const NameRules> rules)
    : before_(std::exchange(rules_in_use, std::move(rules))) {}

NamesInUse::~NamesInUse() { rules_in_use = std::move(before_); }

const std::shared_ptr<const NameRules>& names_in_use() { return rules_in_use; }

}  // namespace epi::analysis
