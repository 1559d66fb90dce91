// SPDX-License-Identifier: Apache-2.0
// Sentences for a terminal, and words for a shell.
#pragma once

#include <string>
#include <string_view>

namespace epi::report {

// Broken between words into lines of at most `width`; a number stays with its unit.
std::string wrapped(const std::string& text, size_t width);
// The same with every line behind so many spaces.
std::string indented(const std::string& text, size_t spaces, size_t width);
// The longest prefix of at most `bytes` bytes that ends between characters.
std::string_view utf8_prefix(std::string_view text, size_t bytes);
// As a shell takes it.
std::string shell_word(const std::string& word);

}  // namespace epi::report
