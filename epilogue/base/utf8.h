// SPDX-License-Identifier: Apache-2.0
// Validates, decodes and encodes UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace epi {

// Length in bytes of the valid sequence at the start of `text`, or 0 if there is none. `text` must
// not be empty.
size_t utf8_length(std::string_view text);

// The code point of the valid sequence at the start of `text`.
uint32_t utf8_code(std::string_view text);

// Appends the character with this code point, at most U+10FFFF.
void append_utf8(std::string& out, uint32_t code);

}  // namespace epi
