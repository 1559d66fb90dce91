// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/tolerant_parser.h"

#include <algorithm>
#include <array>

#include "epilogue/trace/json_text.h"

namespace epi::trace {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Whether the brace at `at` may begin an event.
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

// A position in a text that is looked at in small steps.
class Cursor {
 public:
  Cursor(std::string_view text, size_t at, Defects& defects)
      : text_(text), at_(at), defects_(defects) {}

  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  bool ended() const { return at_ >= text_.size(); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() { at_ = after_spaces(at_); }
  bool accept(char c) {
    skip_spaces();
    if (ended() || peek() != c) return false;
    ++at_;
    return true;
  }

  // Steps over commas, of which one is due; more are defects. False where there was none.
  bool accept_commas() {
    if (!accept(',')) return false;
    while (accept(',')) defects_.count(Defect::kStrayComma);
    return true;
  }

  // The content of the key at the cursor; the cursor then stands behind its colon. None where that
  // is no key.
  std::optional<std::string_view> key() {
    if (!accept('"')) return std::nullopt;
    const size_t begin = at_;
    for (size_t i = begin; i < text_.size(); i += text_[i] == '\\' ? 2 : 1) {
      if (text_[i] != '"') continue;
      const size_t colon = after_spaces(i + 1);
      if (colon >= text_.size() || text_[colon] != ':') return std::nullopt;
      at_ = colon + 1;
      return text_.substr(begin, i - begin);
    }
    at_ = text_.size();
    return std::nullopt;
  }

  // A value of any kind, as text. None where the text ends inside it.
  std::optional<std::string_view> value(bool in_array) {
    skip_spaces();
    const size_t begin = at_;
    const bool whole = peek() == '"'                    ? skip_string(in_array)
                       : peek() == '{' || peek() == '[' ? skip_nested()
                                                        : skip_bare();
    if (!whole) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }

 private:
  size_t after_spaces(size_t i) const {
    while (i < text_.size() && is_space(text_[i])) ++i;
    return i;
  }

  // Whether the quote at `i` can end a value: what follows must go on with the object or the list.
  bool ends_value(size_t i, bool in_array) const {
    size_t next = after_spaces(i + 1);
    if (next >= text_.size()) return true;
    if (text_[next] == '}' || text_[next] == ']') return true;
    if (text_[next] != ',') return false;
    if (in_array) return true;
    next = after_spaces(next + 1);
    // A comma that is followed by a key, or by an end, or by another comma.
    if (next >= text_.size() || text_[next] == '}' || text_[next] == ',') return true;
    if (text_[next] != '"') return false;
    const size_t quote = text_.find_first_of("\"\\", next + 1);
    if (quote == kNowhere) return true;
    const size_t colon = after_spaces(quote + 1);
    return text_[quote] == '"' && (colon >= text_.size() || text_[colon] == ':');
  }

  bool skip_string(bool in_array) {
    bool control = false;
    size_t quote = kNowhere;  // the first that did not end it
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        if (ends_value(i, in_array)) {
          if (control) defects_.count(Defect::kControlByte);
          if (quote != kNowhere) defects_.count(Defect::kQuoteInString);
          at_ = i + 1;
          return true;
        }
        quote = std::min(quote, i);
      } else if (c == '{' && quote != kNowhere && is_event_start(text_, i)) {
        break;  // it ran into the next event: the text behind its first quote is what is broken
      } else if (static_cast<unsigned char>(c) < 0x20) {
        control = true;
      }
    }
    at_ = quote == kNowhere ? text_.size() : quote + 1;
    return quote != kNowhere;
  }

  // An object or a list, with all that is in it. No recursion: text may nest as deep as it likes. A
  // bracket of the wrong kind, or a value without a key, ends it: the text is broken there.
  bool skip_nested() {
    std::string open;
    while (!ended()) {
      const char c = peek();
      if (c == '"') {
        // A key ends at the first quote that a colon follows, any other string as values do.
        const size_t quote = at_;
        if (open.back() == '{' && key()) continue;
        at_ = quote;
        if (!skip_string(open.back() == '[')) return false;
        continue;
      }
      if (c == '{' || c == '[') {
        if (!open.empty() && open.back() == '{' && before(at_) != ':') return false;
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

  // The last character before `at` that is no space.
  char before(size_t at) const {
    while (at > 0 && is_space(text_[at - 1])) --at;
    return at == 0 ? '\0' : text_[at - 1];
  }

  // A number or a word: up to what ends it.
  bool skip_bare() {
    const size_t begin = at_;
    while (!ended() && peek() != ',' && peek() != '}' && peek() != ']' && !is_space(peek())) ++at_;
    return at_ > begin && !ended();
  }

  std::string_view text_;
  size_t at_;
  Defects& defects_;
};

std::string_view RawEvent::* place_of(std::string_view key) {
  if (key == "ph") return &RawEvent::phase;
  if (key == "cat") return &RawEvent::category;
  if (key == "name") return &RawEvent::name;
  if (key == "pid") return &RawEvent::pid;
  if (key == "tid") return &RawEvent::tid;
  if (key == "ts") return &RawEvent::ts;
  if (key == "dur") return &RawEvent::dur;
  if (key == "id") return &RawEvent::id;
  if (key == "args") return &RawEvent::args;
  return nullptr;
}

void set_field(RawEvent& raw, std::string_view key, std::string_view value) {
  const auto place = place_of(key);
  if (place == nullptr || value.empty()) return;
  const char kind = value.front();
  if (place == &RawEvent::args) {
    if (kind == '{') raw.args = value;
    return;
  }
  if (kind == '{' || kind == '[') return;
  const bool wants_string =
      place == &RawEvent::phase || place == &RawEvent::category || place == &RawEvent::name;
  if (!wants_string) {
    raw.*place = value;
  } else {
    raw.*place = kind == '"' ? value.substr(1, value.size() - 2) : std::string_view();
  }
}

enum class ObjectEnd { kWhole, kBroken, kCut };

// The members of the object at the cursor, each handed to `member(key, value)`.
template <typename Member>
ObjectEnd read_object(Cursor& cursor, Defects& defects, Member&& member) {
  if (!cursor.accept('{')) return ObjectEnd::kBroken;
  if (cursor.accept('}')) return ObjectEnd::kWhole;
  for (;;) {
    const auto key = cursor.key();
    if (!key) return cursor.ended() ? ObjectEnd::kCut : ObjectEnd::kBroken;
    const auto value = cursor.value(false);
    if (!value) return cursor.ended() ? ObjectEnd::kCut : ObjectEnd::kBroken;
    member(*key, *value);
    if (cursor.accept('}')) return ObjectEnd::kWhole;
    if (!cursor.accept_commas()) return cursor.ended() ? ObjectEnd::kCut : ObjectEnd::kBroken;
    if (cursor.accept('}')) {
      defects.count(Defect::kStrayComma);
      return ObjectEnd::kWhole;
    }
  }
}

ObjectEnd read_event(Cursor& cursor, uint64_t offset, std::string_view text,
                     EventBuilder& builder) {
  RawEvent raw;
  const ObjectEnd end = read_object(
      cursor, builder.defects(),
      [&](std::string_view key, std::string_view value) { set_field(raw, key, value); });
  if (end == ObjectEnd::kWhole) {
    const auto args_at = raw.args.empty() ? 0 : raw.args.data() - text.data();
    builder.add(raw, offset + static_cast<uint64_t>(args_at));
  }
  return end;
}

}  // namespace

size_t find_event_start(std::string_view text, size_t from) {
  for (size_t at = text.find('{', from); at != kNowhere; at = text.find('{', at + 1)) {
    if (is_event_start(text, at)) return at;
  }
  return text.size();
}

EventsEnd parse_events_tolerantly(std::string_view text, uint64_t offset, EventBuilder& builder,
                                  size_t stop_at) {
  Defects& defects = builder.defects();
  Cursor cursor(text, 0, defects);
  bool whole = true;
  for (bool first = true;; first = false) {
    const bool comma = cursor.accept_commas();
    if (comma && first) defects.count(Defect::kStrayComma);
    if (cursor.accept(']')) {
      if (comma) defects.count(Defect::kStrayComma);
      return {cursor.at(), true, whole};
    }
    cursor.skip_spaces();
    if (cursor.ended()) return {text.size(), false, whole};
    if (cursor.at() >= stop_at) return {cursor.at(), false, whole};
    const size_t begin = cursor.at();
    const ObjectEnd end = read_event(cursor, offset, text, builder);
    if (end == ObjectEnd::kWhole) continue;
    whole = false;
    const size_t next = find_event_start(text, begin + 1);
    // Cut at the end of the file: said once, there. Broken in the middle: left out, and on.
    if (next >= text.size() && end == ObjectEnd::kCut) return {begin, false, whole};
    defects.count(Defect::kBrokenEvent);
    if (next >= text.size()) return {text.size(), false, whole};
    cursor.go_to(next);
  }
}

Head parse_head(std::string_view text) {
  Head head;
  Defects ignored;
  const size_t mark = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  Cursor cursor(text, mark, ignored);
  if (cursor.accept('[')) {
    head.is_json = true;
    head.events_begin = cursor.at();
    return head;
  }
  if (!cursor.accept('{')) return head;
  head.is_json = true;
  for (;;) {
    if (cursor.accept('}')) {
      head.complete = true;
      return head;
    }
    const auto key = cursor.key();
    if (!key) return head;
    if (*key == "traceEvents" && cursor.accept('[')) {
      head.events_begin = cursor.at();
      return head;
    }
    const auto value = cursor.value(false);
    if (!value) return head;
    std::string name;
    unescape(*key, name);
    head.properties.emplace_back(std::move(name), std::string(*value));
    cursor.accept_commas();
  }
}

Properties parse_tail(std::string_view text, Defects& defects) {
  Properties properties;
  Defects ignored;
  Cursor cursor(text, 0, ignored);
  while (cursor.accept_commas()) {
    const auto key = cursor.key();
    if (!key) break;
    const auto value = cursor.value(false);
    if (!value) break;
    std::string name;
    unescape(*key, name);
    properties.emplace_back(std::move(name), std::string(*value));
  }
  cursor.accept('}');
  cursor.skip_spaces();
  if (!cursor.ended()) defects.count(Defect::kTrailingText);
  return properties;
}

}  // namespace epi::trace
