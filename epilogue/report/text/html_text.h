// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace epi::report {

// Text for HTML, with control characters made visible: also valid in a quoted attribute.
std::string html_text(std::string_view text);

}  // namespace epi::report
