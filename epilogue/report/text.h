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
// Without regard to words, for names without spaces; lines after the first are indented.
std::string hard_wrapped(const std::string& text, size_t indent, size_t width);
// The longest prefix of at most `bytes` bytes that ends between characters.
std::string_view utf8_prefix(std::string_view text, size_t bytes);
// One line of at most `width`, cut at the end ("forward_and_a_lo...") or in the middle
// ("forward...block_11"). Control characters become spaces.
std::string shortened(const std::string& text, size_t width);
std::string shortened_middle(const std::string& text, size_t width);
// As a shell takes it.
std::string shell_word(const std::string& word);

}  // namespace epi::report
