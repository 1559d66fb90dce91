// SPDX-License-Identifier: Apache-2.0
// Makes text from traces, packages and file names safe to show: a terminal executes control
// characters, and bidirectional controls reorder what a reader sees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epi {

// Whether line breaks and tabs belong to the text, or come from a name inside a line.
enum class LineBreaks : uint8_t { kKeep, kReplace };

// Replaces C0 and C1 control characters, bidirectional controls, line separators and bytes that are
// not UTF-8 by what they are: "\x1b", "\u202e".
std::string visible_text(std::string_view text, LineBreaks line_breaks);

// True if `code` is a control character or a bidirectional control.
bool is_control(uint32_t code);

}  // namespace epi
