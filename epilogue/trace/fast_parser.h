// SPDX-License-Identifier: Apache-2.0
// Events by simdjson, which is fast and accepts only what is JSON: what it refuses goes to the
// tolerant parser.
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

  // Room for a text of this size, to be filled and then parsed.
  char* prepare(size_t size);
  // Adds the events of the text, a run of objects with commas between and perhaps behind them,
  // which stands at `offset` of the file. False where it is not exactly that: some may have been
  // added.
  bool parse(size_t size, uint64_t offset, EventBuilder& builder);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epi::trace
