// SPDX-License-Identifier: Apache-2.0
// The verbs of the command besides those of verbs/verbs.h. Each has its own file, and
// verbs.cpp has the table.
#pragma once

#include <span>
#include <string>

#include "epilogue/cli/command.h"

namespace epi::cli {

struct Verb {
  const char* name;
  const char* help;            // a summary, then examples: see Command::subcommand
  void (*add)(Command& verb);  // adds the flags and the action
};
std::span<const Verb> verbs();

// "0.2.0"
std::string version_number();
// What `--version` prints.
std::string version_text();

}  // namespace epi::cli
