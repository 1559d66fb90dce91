// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/tolerant_parser.h"

#include "epilogue/trace/json_text.h"
#include "epilogue/trace/tolerant_cursor.h"

namespace epi::trace {
namespace {

RawField field_for_key(std::string_view key) {
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
  const auto target = field_for_key(key);
  if (target == nullptr || value.empty()) return;
  const char kind = value.front();
  if (target == &RawEvent::args) {
    if (kind == '{') raw.args = value;
    return;
  }
  if (kind == '{' || kind == '[') return;
  if (!is_string_field(target)) {
    raw.*target = value;
  } else {
    raw.*target = kind == '"' ? value.substr(1, value.size() - 2) : std::string_view();
  }
}

enum class ObjectEnd { kWhole, kBroken, kTruncated };

// Passes each member of the object at the cursor to `member(key, value)`.
template <typename Member>
ObjectEnd read_object(TolerantCursor& cursor, Defects& defects, Member&& member) {
  if (!cursor.accept('{')) return ObjectEnd::kBroken;
  if (cursor.accept('}')) return ObjectEnd::kWhole;
  for (;;) {
    const auto key = cursor.key();
    if (!key) return cursor.ended() ? ObjectEnd::kTruncated : ObjectEnd::kBroken;
    const auto value = cursor.value(false);
    if (!value) return cursor.ended() ? ObjectEnd::kTruncated : ObjectEnd::kBroken;
    member(*key, *value);
    if (cursor.accept('}')) return ObjectEnd::kWhole;
    if (!cursor.accept_commas()) return cursor.ended() ? ObjectEnd::kTruncated : ObjectEnd::kBroken;
    if (cursor.accept('}')) {
      defects.count(Defect::kStrayComma);
      return ObjectEnd::kWhole;
    }
  }
}

ObjectEnd read_event(TolerantCursor& cursor, uint64_t offset, std::string_view text,
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
  for (size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    if (is_event_start(text, at)) return at;
  }
  return text.size();
}

EventsEnd parse_events_tolerantly(std::string_view text, uint64_t offset, EventBuilder& builder,
                                  RescanBudget& budget, size_t stop_at) {
  Defects& defects = builder.defects();
  TolerantCursor cursor(text, 0, defects);
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
    const bool too_deep = cursor.too_deep_at() != std::string_view::npos;
    if (too_deep) defects.count_too_deep(offset + cursor.too_deep_at());
    size_t next = find_event_start(text, begin + 1);
    if (next < cursor.examined() && !budget.take(cursor.examined() - next)) {
      next = find_event_start(text, cursor.examined());
    }
    // A file that is truncated inside its last event is reported once, by the caller. A malformed
    // event in the middle is skipped.
    if (next >= text.size() && end == ObjectEnd::kTruncated) return {begin, false, whole};
    if (!too_deep) defects.count(Defect::kBrokenEvent);
    if (next >= text.size()) return {text.size(), false, whole};
    cursor.go_to(next);
  }
}

namespace {

void parse_head(TolerantCursor& cursor, Head& head) {
  if (cursor.accept('[')) {
    head.is_json = true;
    head.events_begin = cursor.at();
    return;
  }
  if (!cursor.accept('{')) return;
  head.is_json = true;
  for (;;) {
    if (cursor.accept('}')) {
      head.complete = true;
      return;
    }
    const auto key = cursor.key();
    if (!key) return;
    if (*key == "traceEvents" && cursor.accept('[')) {
      head.events_begin = cursor.at();
      return;
    }
    const auto value = cursor.value(false);
    head.too_deep_at = cursor.too_deep_at();
    if (!value) return;
    std::string name;
    unescape(*key, name);
    head.properties.emplace_back(std::move(name), std::string(*value));
    cursor.accept_commas();
  }
}

}  // namespace

Head parse_head(std::string_view text) {
  Head head;
  Defects ignored;
  const size_t bom_size = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  TolerantCursor cursor(text, bom_size, ignored);
  parse_head(cursor, head);
  head.examined = cursor.examined();
  return head;
}

Properties parse_tail(std::string_view text, Defects& defects) {
  Properties properties;
  Defects ignored;
  TolerantCursor cursor(text, 0, ignored);
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
