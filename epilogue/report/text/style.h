// SPDX-License-Identifier: Apache-2.0
// How the text of a result is printed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epi::report {

struct Style {
  bool markdown = false;
  size_t width = 80;  // of text; Markdown is not limited

  // For sentences: Markdown has no line breaks in them.
  size_t line_width() const { return markdown ? SIZE_MAX / 2 : width; }
};

}  // namespace epi::report
