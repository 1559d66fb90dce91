// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/pattern.h"

#include <algorithm>
#include <regex>

namespace epi::analysis {
namespace {

constexpr size_t kMaxSearched = 4096;     // characters of a name
constexpr size_t kMaxRegexLength = 1000;  // std::regex nests as deep as its brackets do
// libstdc++ tries all ways at once instead of one after another: no expression takes forever.
#ifdef __GLIBCXX__
constexpr auto kFlags = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kFlags = std::regex::ECMAScript;
#endif

// Behind a backslash or a brace, libstdc++ reads a number without a look at its length.
constexpr size_t kMaxNumberLength = 4;

bool has_long_number(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const bool begins = text[i] == '\\' || text[i] == '{' || text[i] == ',';
    if (!begins) continue;
    const size_t end = text.find_first_not_of("0123456789", i + 1);
    const size_t digits = std::min(end, text.size()) - (i + 1);
    if (digits > kMaxNumberLength) return true;
    if (text[i] == '\\') ++i;  // what it escapes
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
    return failure("an expression has at most {} characters", kMaxRegexLength);
  }
  if (has_long_number(text)) {
    return failure("/{}/ counts by a number of more than {} digits", text, kMaxNumberLength);
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
