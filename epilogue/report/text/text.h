// SPDX-License-Identifier: Apache-2.0
// Text layout for a terminal (wrapping, indentation, shortening) and quoting for a shell. Control
// characters, line breaks included, are made visible: they come from names.
#pragma once

#include <string>
#include <string_view>

namespace epi::report {

// Breaks text at spaces into lines of at most `width`. A number stays on the line of its unit.
std::string wrapped(const std::string& text, size_t width);
// Like `wrapped`, with every line indented by `spaces`.
std::string indented(const std::string& text, size_t spaces, size_t width);
// Breaks text at any character, for names without spaces. Lines after the first are indented.
std::string hard_wrapped(const std::string& text, size_t indent, size_t width);
// The longest prefix of at most `bytes` bytes that does not split a character.
std::string_view utf8_prefix(std::string_view text, size_t bytes);
// Shortens text to one line of at most `width`: cut at the end ("forward_and_a_lo...") or in the
// middle ("forward...block_11").
std::string shortened(const std::string& text, size_t width);
std::string shortened_middle(const std::string& text, size_t width);
// Quotes a word for a POSIX shell if it needs quotes.
std::string shell_word(const std::string& word);

}  // namespace epi::report
