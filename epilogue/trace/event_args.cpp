// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/event_args.h"

#include <algorithm>

#include "epilogue/trace/json_text.h"

namespace epi::trace {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  // Steps over spaces and then over `c`, if it is next.
  bool accept(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Takes one value of any kind. Empty if there is none.
  std::string_view value() {
    skip_spaces();
    const size_t size = value_size();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  // The size of the string that starts at `i`, including its quotes. An unterminated string extends
  // to the end of the text.
  size_t string_size(size_t i) const {
    size_t end = i + 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    return std::min(end + 1, rest_.size()) - i;
  }

  size_t value_size() const {
    size_t depth = 0;
    size_t i = 0;
    while (i < rest_.size()) {
      const char c = rest_[i];
      if (c == '"') {
        i += string_size(i);
        if (depth == 0) return i;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (depth == 0) return i;
        if (--depth == 0) return i + 1;
      }
      if (depth == 0 && (c == ',' || c == ':' || is_space(c))) return i;
      ++i;
    }
    return i;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string_view> find_value(std::string_view object, std::string_view key) {
  Cursor cursor(object);
  if (!cursor.accept('{')) return std::nullopt;
  do {
    const std::string_view name = cursor.value();
    if (name.size() < 2 || !cursor.accept(':')) return std::nullopt;
    const std::string_view value = cursor.value();
    if (name.substr(1, name.size() - 2) == key) return value;
  } while (cursor.accept(','));
  return std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> object_members(std::string_view object) {
  std::vector<std::pair<std::string_view, std::string_view>> members;
  Cursor cursor(object);
  if (!cursor.accept('{')) return members;
  do {
    const std::string_view name = cursor.value();
    if (name.size() < 2 || !cursor.accept(':')) break;
    members.emplace_back(name.substr(1, name.size() - 2), cursor.value());
  } while (cursor.accept(','));
  return members;
}

std::vector<std::string_view> array_items(std::string_view array) {
  std::vector<std::string_view> items;
  Cursor cursor(array);
  if (!cursor.accept('[') || cursor.accept(']')) return items;
  do {
    items.push_back(cursor.value());
  } while (cursor.accept(','));
  return items;
}

std::string string_value(std::string_view token) {
  std::string out;
  if (token.size() >= 2 && token.front() == '"') {
    unescape(token.substr(1, token.size() - 2), out);
  }
  return out;
}

// Searches backwards: process names are at the end of a file.
bool has_cpu_kernels(const Trace& trace) {
  for (EventId id = trace.size(); id-- > 0;) {
    if (trace.phase[id] != Phase::kMetadata || trace.name_of(id) != "process_name") continue;
    if (find_value(trace.args_of(id), "name") == "\"CPU kernels\"") return true;
  }
  return false;
}

bool is_epilogue_trace(const Trace& trace) {
  return trace.property(kProducer) == "\"epilogue\"" || has_cpu_kernels(trace);
}

}  // namespace epi::trace
