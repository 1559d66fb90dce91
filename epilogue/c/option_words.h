// SPDX-License-Identifier: Apache-2.0
// The options of a call, given as a JSON object, as words of the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "epilogue/cli/help/command_info.h"

namespace epi::c {

// Keys in the order of the object. A flag that is set has the value "true". Members that are false
// or null are left out.
using Options = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The text is null or a JSON object. Throws `Error` with the rule that it breaks.
Options parse_options(const char* text);

// The words that stand for the options, with `traces` in the places of the command's arguments.
// Throws `Error` for an option that the command does not have.
std::vector<std::string> option_words(const cli::CommandInfo& command, const Options& options,
                                      const std::vector<std::string>& traces);

}  // namespace epi::c
