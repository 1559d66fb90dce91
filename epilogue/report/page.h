// SPDX-License-Identifier: Apache-2.0
// An HTML page that shows a trace, or two side by side, and loads nothing from the network. It
// embeds the data as JSON and the script and style of `page/`. Text of a trace is data and never
// markup.
#pragma once

#include <string>
#include <vector>

#include "epilogue/report/page_trace.h"

namespace epi::report {

// Takes one or two traces. The second is compared with the first.
std::string page_html(const std::vector<PageTrace>& traces);

}  // namespace epi::report
