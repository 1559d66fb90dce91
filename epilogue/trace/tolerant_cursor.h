// SPDX-License-Identifier: Apache-2.0
// A cursor over text that is almost JSON.
#pragma once

#include <optional>
#include <string_view>

#include "epilogue/trace/defects.h"

namespace epi::trace {

// Whether the brace at `at` may start an event: it follows a comma or a bracket, and a key of an
// event follows it.
bool is_event_start(std::string_view text, size_t at);

class TolerantCursor {
 public:
  TolerantCursor(std::string_view text, size_t at, Defects& defects)
      : text_(text), at_(at), defects_(defects) {}

  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  bool ended() const { return at_ >= text_.size(); }
  void skip_spaces() { at_ = after_spaces(at_); }
  // Steps over spaces and then over `c`, if it is next.
  bool accept(char c);
  // Skips commas. One is expected, more are counted as defects. False if there is none.
  bool accept_commas();

  // Reads the key at the cursor and moves past its colon. nullopt if there is no key.
  std::optional<std::string_view> key();
  // Reads a value of any kind, as text. nullopt if it is malformed or truncated.
  std::optional<std::string_view> value(bool in_array);

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  size_t after_spaces(size_t i) const;
  // The last non-space character before `at`.
  char before(size_t at) const;
  // Whether the quote at `i` can end a value: the text after it must continue the object or the
  // array.
  bool ends_value(size_t i, bool in_array) const;
  bool skip_string(bool in_array);
  // Skips an object or an array with its content. Not recursive, because the nesting depth is
  // unbounded. Stops at a mismatched bracket or a value without a key: the text is malformed there.
  bool skip_nested();
  // Skips a number or a bare word, up to its delimiter.
  bool skip_bare();

  std::string_view text_;
  size_t at_;
  Defects& defects_;
};

}  // namespace epi::trace
