// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/fast_parser.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "epilogue/base/simdjson_start.h"
#include "epilogue/trace/json_text.h"
#include "epilogue/trace/tolerant_cursor.h"

namespace epi::trace {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view trim_right(std::string_view token) {
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

std::string_view string_content(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' ? token.substr(1, token.size() - 2)
                                                   : std::string_view();
}

template <size_t N>
bool key_is(const char* raw, const char (&text)[N]) {
  return std::memcmp(raw, text, N - 1) == 0 && raw[N - 1] == '"';
}

// The field that stores the value of a key, or null if the key is ignored. `raw` points after the
// opening quote, and the text is followed by padding.
RawField field_for_key(const char* raw) {
  switch (raw[0]) {
    case 'p':
      return key_is(raw, "ph") ? &RawEvent::phase : key_is(raw, "pid") ? &RawEvent::pid : nullptr;
    case 'c':
      return key_is(raw, "cat") ? &RawEvent::category : nullptr;
    case 'n':
      return key_is(raw, "name") ? &RawEvent::name : nullptr;
    case 't':
      return key_is(raw, "ts") ? &RawEvent::ts : key_is(raw, "tid") ? &RawEvent::tid : nullptr;
    case 'd':
      return key_is(raw, "dur") ? &RawEvent::dur : nullptr;
    case 'i':
      return key_is(raw, "id") ? &RawEvent::id : nullptr;
    case 'a':
      return key_is(raw, "args") ? &RawEvent::args : nullptr;
    default:
      return nullptr;
  }
}

// Reads one member of an event. False if it is not valid JSON.
bool read_field(simdjson::simdjson_result<ondemand::field> field, RawEvent& raw) {
  ondemand::raw_json_string key;
  if (field.key().get(key) != simdjson::SUCCESS) return false;
  const auto target = field_for_key(key.raw());
  if (target == nullptr) return true;
  ondemand::value value;
  if (field.value().get(value) != simdjson::SUCCESS) return false;
  const std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  if (target == &RawEvent::args) {
    ondemand::object object;
    if (token.front() != '{') return true;
    if (value.get_object().get(object) != simdjson::SUCCESS ||
        object.raw_json().get(raw.args) != simdjson::SUCCESS) {
      return false;
    }
    raw.args = trim_right(raw.args);
    return !is_nested_too_deeply(raw.args);
  }
  if (token.front() == '{' || token.front() == '[') return true;
  const std::string_view trimmed = trim_right(token);
  raw.*target = is_string_field(target) ? string_content(trimmed) : trimmed;
  return true;
}

}  // namespace

struct FastParser::State {
  ondemand::parser parser;
  std::vector<char> buffer;  // "[", the window, "]", padding
};

FastParser::FastParser() : state_(std::make_unique<State>()) {}
FastParser::~FastParser() = default;

char* FastParser::prepare(size_t size) {
  auto& buffer = state_->buffer;
  buffer.resize(std::max(buffer.size(), size + 2 + simdjson::SIMDJSON_PADDING));
  return buffer.data() + 1;
}

bool FastParser::parse(size_t size, uint64_t offset, EventBuilder& builder) {
  auto& buffer = state_->buffer;
  std::string_view text = trim_right({buffer.data() + 1, size});
  if (text.ends_with(',')) text.remove_suffix(1);
  buffer[0] = '[';
  buffer[text.size() + 1] = ']';
  ondemand::document document;
  if (state_->parser.iterate(buffer.data(), text.size() + 2, buffer.size()).get(document) !=
      simdjson::SUCCESS) {
    return false;
  }
  ondemand::array events;
  if (document.get_array().get(events) != simdjson::SUCCESS) return false;
  for (auto element : events) {
    ondemand::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return false;
    RawEvent raw;
    for (auto field : object) {
      if (!read_field(field, raw)) return false;
    }
    const auto args_at = raw.args.empty() ? 0 : raw.args.data() - buffer.data() - 1;
    builder.add(raw, offset + static_cast<uint64_t>(args_at));
  }
  // Only the bracket added above may follow the last event.
  const char* rest = nullptr;
  return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
}

}  // namespace epi::trace
