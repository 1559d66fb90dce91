// SPDX-License-Identifier: Apache-2.0
// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace epi {

// Length of the valid sequence at the start of `text`, which is not empty; 0 where it is none.
size_t utf8_length(std::string_view text);

// Appends a character by its number, at most U+10FFFF.
void append_utf8(std::string& out, uint32_t code);

}  // namespace epi
