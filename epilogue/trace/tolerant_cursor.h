// SPDX-License-Identifier: Apache-2.0
// A cursor over text that is almost JSON. Skipping a value takes time proportional to the text that
// is looked at: nesting is limited, and the cursor remembers where no string can end.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "epilogue/trace/defects.h"

namespace epi::trace {

// Deeper values are malformed. Profilers nest fewer than ten levels.
inline constexpr size_t kMaxNesting = 1000;
// Whether an object or array contains values deeper than `kMaxNesting`.
bool is_nested_too_deeply(std::string_view value);

// Whether the brace at `at` may start an event: it follows a comma or a bracket, and a key of an
// event follows it.
bool is_event_start(std::string_view text, size_t at);

class TolerantCursor {
 public:
  TolerantCursor(std::string_view text, size_t at, Defects& defects)
      : text_(text), at_(at), defects_(defects) {}

  size_t at() const { return at_; }
  void go_to(size_t at) {
    at_ = at;
    examined_ = at;
    too_deep_at_ = std::string_view::npos;
  }
  bool ended() const { return at_ >= text_.size(); }
  // The end of the text looked at so far. It may be after `at` if a value is malformed.
  size_t examined() const { return std::max(examined_, at_); }
  // The first bracket nested too deeply since the last `go_to`. npos if there is none.
  size_t too_deep_at() const { return too_deep_at_; }
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
  bool ends_value(size_t i, bool in_array);
  bool skip_string(bool in_array);
  // Skips an object or an array with its content. Stops at a mismatched bracket, a value without a
  // key, or a bracket nested too deeply: the text is malformed there.
  bool skip_nested();
  // Skips a number or a bare word, up to its delimiter.
  bool skip_bare();

  std::string_view text_;
  size_t at_;
  Defects& defects_;
  size_t examined_ = 0;
  size_t too_deep_at_ = std::string_view::npos;
  // A range in which no quote ends a value, outside and inside of arrays: a search from its start
  // found none. Without it, each quote would start a search of the same text.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  std::array<Range, 2> no_string_end_{};
};

}  // namespace epi::trace
