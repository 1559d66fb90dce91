// SPDX-License-Identifier: Apache-2.0
// An HTML page that shows a trace, or two side by side, and loads nothing from the network. It
// embeds the data as JSON and the script and style of `page/`. Text of a trace is data and never
// markup.
#pragma once

#include <string>
#include <vector>

#include "epilogue/report/description/description.h"
#include "epilogue/report/page/page_trace.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

// Takes one or two traces. The second is compared with the first.
std::string page_html(const std::vector<PageTrace>& traces);

// A page that was written to a file.
struct WrittenPage {
  std::string file;
  size_t bytes = 0;
};
std::string text_of(const WrittenPage& page, const Style& style);

template <>
struct Description<WrittenPage> {
  static constexpr const char* kName = "report";
  static constexpr std::tuple kMembers{
      Member{"file", "file", Unit::kNone, "the page that was written", &WrittenPage::file},
      Member{"bytes", "size", Unit::kBytes, "its size", &WrittenPage::bytes}};
};

}  // namespace epi::report
