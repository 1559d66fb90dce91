// SPDX-License-Identifier: Apache-2.0
// The argument texts of a trace that is being made.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "epilogue/trace/trace.h"

namespace epi::profile {

// Argument texts, each distinct one once: a block runs the same shapes step after step.
class ArgsText {
 public:
  // `make` writes the text of `key`; it is called when the key is new.
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
