// SPDX-License-Identifier: Apache-2.0
// The command line: verbs with their options and subcommands. Only command.cpp includes CLI11,
// which takes longer to compile than all of our verbs.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "epilogue/cli/help/command_info.h"
#include "epilogue/verbs/options.h"

namespace epi::cli {

// Runs a verb; returns its exit code (base/exit_codes.h).
using Action = std::function<int()>;

// The program, a verb, or a subcommand of a verb. Parsing writes to the values of the options,
// which must live as long as the action.
class Command : public verbs::Options {
 public:
  // The first lines of `help` are the summary; lines from "Example: " on are examples.
  Command(const Command* parent, const std::string& name, std::string help);

  // The user must give one of the subcommands.
  Command& subcommand(const std::string& name, const std::string& help);
  // What the command does.
  void run(Action action) { action_ = std::move(action); }

  const std::string& name() const { return name_; }
  const Action& action() const { return action_; }
  const std::deque<Command>& subcommands() const { return subcommands_; }
  // The command and all below it, to generate documentation from.
  CommandInfo info() const;
  const Command& program() const { return parent_ == nullptr ? *this : parent_->program(); }

 private:
  const Command* parent_;
  std::string name_;  // "epilogue advise"
  std::string help_;
  Action action_;
  std::deque<Command> subcommands_;
};

// Parses the words and runs the verb. Prints --help and --version. Throws `Error` for invalid
// usage.
int run_command(const Command& program, const std::vector<std::string>& words,
                const std::function<std::string()>& version);

}  // namespace epi::cli
