// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/pattern.h"

#include <regex>

namespace epi::analysis {
namespace {

constexpr size_t kLongestSearched = 4096;  // characters of a name
constexpr size_t kLongestRegex = 1000;     // std::regex nests as deep as its brackets do
// libstdc++ tries all ways at once instead of one after another: no expression takes forever.
#ifdef __GLIBCXX__
constexpr auto kFlags = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kFlags = std::regex::ECMAScript;
#endif

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
  if (text.size() > kLongestRegex) {
    return failure("an expression has at most {} characters", kLongestRegex);
  }
  try {
    pattern.expression_ =
        std::make_shared<const Expression>(Expression{std::regex(std::string(text), kFlags)});
  } catch (const std::regex_error&) {
    return failure("/{}/ is no regular expression", text);
  }
  return pattern;
}

bool Pattern::matches(std::string_view name) const {
  if (expression_ == nullptr) return name == text_;
  const std::string_view searched = name.substr(0, kLongestSearched);
  return std::regex_search(searched.begin(), searched.end(), expression_->regex);
}

}  // namespace epi::analysis
