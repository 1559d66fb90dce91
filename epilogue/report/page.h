// SPDX-License-Identifier: Apache-2.0
// One page that shows a trace, or two side by side, without the network: data as JSON, and the
// script and style of `page/` in it. What a trace says is data there and never markup.
#pragma once

#include <string>
#include <vector>

#include "epilogue/report/page_trace.h"

namespace epi::report {

// One or two traces; of two, the second is held against the first.
std::string page_html(const std::vector<PageTrace>& traces);

}  // namespace epi::report
