// SPDX-License-Identifier: Apache-2.0
// The verbs over traces, which the command and the C interface share.
#pragma once

#include <span>

#include "epilogue/cli/command.h"
#include "epilogue/cli/trace/session.h"

namespace epi::cli {

struct TraceVerb {
  const char* name;
  const char* help;  // a summary, then examples: see Command::subcommand
  void (*add)(Command& verb, Session& session);  // adds the flags and the action
};
std::span<const TraceVerb> trace_verbs();

}  // namespace epi::cli
