// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/text/html_text.h"

#include "epilogue/base/visible_text.h"

namespace epi::report {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text, LineBreaks::kReplace)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace epi::report
