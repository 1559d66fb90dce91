// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/pattern.h"

#include <algorithm>
#include <regex>

namespace epi::analysis {
namespace {

constexpr size_t kMaxSearched = 4096;     // characters of a name
constexpr size_t kMaxRegexLength = 1000;  // std::regex recurses once per nesting level
// Selects libstdc++'s breadth-first matcher, which cannot take exponential time.
#ifdef __GLIBCXX__
constexpr auto kFlags = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kFlags = std::regex::ECMAScript;
#endif

// libstdc++ parses the number after a backslash, brace or comma without a length check.
constexpr size_t kMaxNumberLength = 4;

bool has_long_number(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const bool starts_number = text[i] == '\\' || text[i] == '{' || text[i] == ',';
    if (!starts_number) continue;
    const size_t end = text.find_first_not_of("0123456789", i + 1);
    const size_t digits = std::min(end, text.size()) - (i + 1);
    if (digits > kMaxNumberLength) return true;
    if (text[i] == '\\') ++i;  // skip the escaped character
  }
  return false;
}

}  // namespace

struct Pattern::Expression {
  std::regex regex;
};

Pattern Pattern::name(std::string_view text) {
  Pattern pattern;
  pattern.text_ = text;
  return pattern;
}

Result<Pattern> Pattern::regex(std::string_view text) {
  Pattern pattern;
  pattern.text_ = text;
  if (text.empty()) return failure("the expression is empty");
  if (text.size() > kMaxRegexLength) {
    return failure("the expression is longer than {} characters", kMaxRegexLength);
  }
  if (has_long_number(text)) {
    return failure("/{}/ contains a number of more than {} digits", text, kMaxNumberLength);
  }
  try {
    pattern.expression_ =
        std::make_shared<const Expression>(Expression{std::regex(std::string(text), kFlags)});
  } catch (const std::regex_error&) {
    return failure("/{}/ is not a regular expression", text);
  }
  return pattern;
}

bool Pattern::matches(std::string_view name) const {
  if (expression_ == nullptr) return name == text_;
  const std::string_view searched = name.substr(0, kMaxSearched);
  return std::regex_search(searched.begin(), searched.end(), expression_->regex);
}

}  // namespace epi::analysis
