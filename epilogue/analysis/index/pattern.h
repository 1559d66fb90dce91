// SPDX-License-Identifier: Apache-2.0
// A literal name, or a regular expression (ECMAScript) that is searched for in names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi::analysis {

class Pattern {
 public:
  Pattern() = default;
  static Pattern name(std::string_view text);
  // The failure describes the error in the expression.
  static Result<Pattern> regex(std::string_view text);

  bool matches(std::string_view name) const;
  bool is_regex() const { return expression_ != nullptr; }
  const std::string& text() const { return text_; }

 private:
  struct Expression;  // hides <regex>, which is slow to compile
  std::string text_;
  std::shared_ptr<const Expression> expression_;
};

}  // namespace epi::analysis
