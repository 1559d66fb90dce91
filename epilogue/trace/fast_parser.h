// SPDX-License-Identifier: Apache-2.0
// Parses events with simdjson, which is fast but accepts only valid JSON. Anything that it rejects
// goes to the tolerant parser.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "epilogue/trace/event_builder.h"

namespace epi::trace {

class FastParser {
 public:
  FastParser();
  FastParser(const FastParser&) = delete;
  FastParser& operator=(const FastParser&) = delete;
  ~FastParser();

  // A buffer for a text of this size. Fill it, then call `parse`.
  char* prepare(size_t size);
  // Adds the events of the text: a sequence of objects separated by commas, with an optional
  // trailing comma. `offset` is the position of the text in the file. Returns false if the text has
  // any other form, in which case some events may already have been added.
  bool parse(size_t size, uint64_t offset, EventBuilder& builder);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epi::trace
