// SPDX-License-Identifier: Apache-2.0
// A position in text that is almost JSON, moved on in small steps.
#pragma once

#include <optional>
#include <string_view>

#include "epilogue/trace/defects.h"

namespace epi::trace {

// Whether the brace at `at` may begin an event: a comma or a bracket in front of it, and a key of
// events behind it.
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
  // Steps over commas, of which one is due; more are defects. False where there was none.
  bool accept_commas();

  // The content of the key at the cursor; the cursor then stands behind its colon. None where that
  // is no key.
  std::optional<std::string_view> key();
  // A value of any kind, as text. None where it is broken, or the text ends inside it.
  std::optional<std::string_view> value(bool in_array);

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  size_t after_spaces(size_t i) const;
  // The last character before `at` that is no space.
  char before(size_t at) const;
  // Whether the quote at `i` can end a value: what follows must go on with the object or the list.
  bool ends_value(size_t i, bool in_array) const;
  bool skip_string(bool in_array);
  // An object or a list, with all that is in it. No recursion: text may nest as deep as it likes. A
  // bracket of the wrong kind, or a value without a key, ends it: the text is broken there.
  bool skip_nested();
  // A number or a word: up to what ends it.
  bool skip_bare();

  std::string_view text_;
  size_t at_;
  Defects& defects_;
};

}  // namespace epi::trace
