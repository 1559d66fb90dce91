// SPDX-License-Identifier: Apache-2.0
// The verbs over traces (../verbs) as commands.
#pragma once

#include "epilogue/cli/command.h"

namespace epi::cli {

// `can_run`: whether the program can run blocks, and may suggest it.
void add_trace_commands(Command& program, bool can_run);

// Adds --step-pattern REGEX, --names-file FILE and --max-unpacked BYTES.
void add_reading_options(Command& command, verbs::ReadingOptions& options);
// Adds --max-unpacked BYTES.
void add_max_unpacked(Command& command, verbs::ReadingOptions& options);

}  // namespace epi::cli
