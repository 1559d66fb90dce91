// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/tolerant_cursor.h"

#include <algorithm>
#include <array>
#include <string>

#include "epilogue/trace/json_text.h"

namespace epi::trace {
namespace {

constexpr size_t kNotFound = std::string_view::npos;

}  // namespace

bool is_event_start(std::string_view text, size_t at) {
  static constexpr std::array<std::string_view, 10> kKeys = {"ph", "cat", "name", "pid", "tid",
                                                             "ts", "dur", "args", "id",  "bp"};
  size_t before = at;
  while (before > 0 && is_space(text[before - 1])) --before;
  if (before > 0 && text[before - 1] != ',' && text[before - 1] != '[') return false;
  size_t quote = at + 1;
  while (quote < text.size() && is_space(text[quote])) ++quote;
  if (quote >= text.size() || text[quote] != '"') return false;
  const std::string_view rest = text.substr(quote + 1);
  return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) {
    return rest.starts_with(key) && rest.substr(key.size()).starts_with('"');
  });
}

bool is_nested_too_deeply(std::string_view value) {
  if (value.size() <= kMaxNesting) return false;  // each level takes a byte
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (depth > kMaxNesting) return true;
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return false;
}

bool TolerantCursor::accept(char c) {
  skip_spaces();
  if (ended() || peek() != c) return false;
  ++at_;
  return true;
}

bool TolerantCursor::accept_commas() {
  if (!accept(',')) return false;
  while (accept(',')) defects_.count(Defect::kStrayComma);
  return true;
}

std::optional<std::string_view> TolerantCursor::key() {
  if (!accept('"')) return std::nullopt;
  const size_t begin = at_;
  for (size_t i = begin; i < text_.size(); i += text_[i] == '\\' ? 2 : 1) {
    if (text_[i] != '"') continue;
    const size_t colon = after_spaces(i + 1);
    if (colon >= text_.size() || text_[colon] != ':') {
      examined_ = std::max(examined_, colon);
      return std::nullopt;
    }
    at_ = colon + 1;
    return text_.substr(begin, i - begin);
  }
  at_ = text_.size();
  return std::nullopt;
}

std::optional<std::string_view> TolerantCursor::value(bool in_array) {
  skip_spaces();
  const size_t begin = at_;
  const bool whole = peek() == '"'                    ? skip_string(in_array)
                     : peek() == '{' || peek() == '[' ? skip_nested()
                                                      : skip_bare();
  if (!whole) return std::nullopt;
  return text_.substr(begin, at_ - begin);
}

size_t TolerantCursor::after_spaces(size_t i) const {
  while (i < text_.size() && is_space(text_[i])) ++i;
  return i;
}

char TolerantCursor::before(size_t at) const {
  while (at > 0 && is_space(text_[at - 1])) --at;
  return at == 0 ? '\0' : text_[at - 1];
}

bool TolerantCursor::ends_value(size_t i, bool in_array) {
  size_t next = after_spaces(i + 1);
  if (next >= text_.size()) return true;
  if (text_[next] == '}' || text_[next] == ']') return true;
  if (text_[next] != ',') return false;
  if (in_array) return true;
  next = after_spaces(next + 1);
  // The comma must be followed by a key, the end, or another comma.
  if (next >= text_.size() || text_[next] == '}' || text_[next] == ',') return true;
  if (text_[next] != '"') return false;
  const size_t quote = text_.find_first_of("\"\\", next + 1);
  examined_ = std::max(examined_, std::min(quote, text_.size()));
  if (quote == kNotFound) return true;
  const size_t colon = after_spaces(quote + 1);
  return text_[quote] == '"' && (colon >= text_.size() || text_[colon] == ':');
}

bool TolerantCursor::skip_string(bool in_array) {
  bool control = false;
  size_t quote = kNotFound;  // the first quote that did not end the string
  Range& no_end = no_string_end_[in_array ? 1 : 0];
  size_t i = at_ + 1;
  for (; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '\\') {
      ++i;
    } else if (c == '"') {
      if (no_end.begin <= i && i < no_end.end) {
        quote = std::min(quote, i);
        i = no_end.end;
        break;
      }
      if (ends_value(i, in_array)) {
        if (control) defects_.count(Defect::kControlByte);
        if (quote != kNotFound) defects_.count(Defect::kQuoteInString);
        at_ = i + 1;
        return true;
      }
      quote = std::min(quote, i);
    } else if (c == '{' && quote != kNotFound && is_event_start(text_, i)) {
      break;  // it ran into the next event, so the text after its first quote is malformed
    } else if (static_cast<unsigned char>(c) < 0x20) {
      control = true;
    }
  }
  const bool extends = no_end.begin <= at_ && at_ < no_end.end;
  no_end = {extends ? no_end.begin : at_, std::min(i, text_.size())};
  examined_ = std::max(examined_, no_end.end);
  at_ = quote == kNotFound ? text_.size() : quote + 1;
  return quote != kNotFound;
}

bool TolerantCursor::skip_nested() {
  std::string open;
  while (!ended()) {
    const char c = peek();
    if (c == '"') {
      // A key ends at the first quote followed by a colon. Other strings end like values.
      const size_t quote = at_;
      if (open.back() == '{' && key()) continue;
      at_ = quote;
      if (!skip_string(open.back() == '[')) return false;
      continue;
    }
    if (c == '{' || c == '[') {
      if (!open.empty() && open.back() == '{' && before(at_) != ':') return false;
      if (open.size() == kMaxNesting) {
        too_deep_at_ = std::min(too_deep_at_, at_);
        return false;
      }
      open += c;
    }
    if ((c == '}' && open.back() != '{') || (c == ']' && open.back() != '[')) return false;
    ++at_;
    if (c != '}' && c != ']') continue;
    open.pop_back();
    if (open.empty()) return true;
  }
  return false;
}

bool TolerantCursor::skip_bare() {
  const size_t begin = at_;
  while (!ended() && peek() != ',' && peek() != '}' && peek() != ']' && !is_space(peek())) ++at_;
  return at_ > begin && !ended();
}

}  // namespace epi::trace
