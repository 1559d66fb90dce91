// SPDX-License-Identifier: Apache-2.0
// The `args` texts of a trace under construction.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "epilogue/trace/trace.h"

namespace epi::profile {

// Stores each distinct text once, because a block runs the same shapes in every step.
class ArgsText {
 public:
  // Calls `make` for the text of `key` if the key is new.
  template <typename Make>
  trace::ArgsRange intern(std::string_view key, Make&& make) {
    if (const auto found = ranges_.find(key); found != ranges_.end()) return found->second;
    const std::string made = make();
    const trace::ArgsRange range{text_.size(), static_cast<uint32_t>(made.size())};
    text_ += made;
    ranges_.emplace(key, range);
    return range;
  }
  trace::ArgsRange add(const std::string& made) {
    return intern(made, [&] { return made; });
  }
  std::shared_ptr<const char> release() {
    auto owner = std::make_shared<const std::string>(std::move(text_));
    return {owner, owner->data()};
  }

 private:
  std::string text_;
  std::map<std::string, trace::ArgsRange, std::less<>> ranges_;
};

}  // namespace epi::profile
