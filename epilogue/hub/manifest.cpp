// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/manifest.h"

#include <algorithm>

namespace epi::hub {
namespace {

constexpr size_t kMaxNameLength = 100;

}  // namespace

const Export* Manifest::find_export(std::string_view export_name) const {
  const auto found = std::ranges::find(exports, export_name, &Export::name);
  return found == exports.end() ? nullptr : &*found;
}

std::string name_error(std::string_view name) {
  constexpr const char* kRule = "must be a name such as \"epilogue/glu\" of a-z, 0-9, - and _";
  const size_t slash = name.find('/');
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
  };
  const bool allowed = slash != std::string_view::npos && name.size() <= kMaxNameLength &&
                       is_word(name.substr(0, slash)) && is_word(name.substr(slash + 1));
  return allowed ? "" : kRule;
}

}  // namespace epi::hub
