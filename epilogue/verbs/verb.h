// SPDX-License-Identifier: Apache-2.0
// A verb over traces. Each has its own file, <name>_verb.cpp, with everything about it: its help,
// formats, options and what it does. verbs.cpp lists them.
#pragma once

#include <functional>
#include <string>

#include "epilogue/verbs/call.h"
#include "epilogue/verbs/options.h"

namespace epi::verbs {

// What the verb does, once its options are set. Returns the exit code (base/exit_codes.h).
using Run = std::function<int(Call& call)>;

struct Formats {
  bool json = true;
  bool markdown = true;
  bool csv = false;

  bool has(Format format) const {
    return format == Format::kText || (format == Format::kJson && json) ||
           (format == Format::kMarkdown && markdown) || (format == Format::kCsv && csv);
  }
};

struct Verb {
  const char* name;
  const char* help;  // a summary, then lines of examples from "Example: " on
  Run (*add)(Options& options);
  // The JSON Schema of what it prints with --json (verb_schema.h).
  std::string (*schema)();
  Formats formats{};
};

}  // namespace epi::verbs
