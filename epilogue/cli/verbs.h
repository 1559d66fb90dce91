// SPDX-License-Identifier: Apache-2.0
// The verbs of the command line, one file each; verbs.cpp has the table of them.
#pragma once

#include <span>
#include <string>

#include "epilogue/cli/command.h"

namespace epi::cli {

struct Verb {
  const char* name;
  const char* help;  // its first line is shown in the list of verbs, the others by VERB --help
  void (*add)(Command& verb);  // adds the flags, and what runs
};
std::span<const Verb> verbs();

// What `--version` prints.
std::string version_text();

}  // namespace epi::cli
