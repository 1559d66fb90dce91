// SPDX-License-Identifier: Apache-2.0
// --names raw|decoded|both: how kernel names are shown.
#pragma once

#include <optional>
#include <string>

#include "epilogue/report/kernels/kernel_names.h"
#include "epilogue/verbs/options.h"

namespace epi::verbs {

void add_names(Options& options, std::string& names);
// None if the option is not given. Throws `Error` for an unknown value.
std::optional<report::NameStyle> parse_name_style(const char* verb, const std::string& names);

}  // namespace epi::verbs
