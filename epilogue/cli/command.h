// SPDX-License-Identifier: Apache-2.0
// The command line: verbs with their flags, options and arguments. Only command.cpp includes CLI11,
// which takes longer to compile than all of our verbs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/cli/help/command_info.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace epi::cli {

// Runs a verb; returns its exit code (exit_codes.h).
using Action = std::function<int()>;

// A flag, an option or an argument of a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  // What --help shows for the value: "FILE", "on|off".
  Option value_name(const std::string& name) const;
  Option required() const;
  // May be given several times, with one value each.
  Option repeatable() const;
  // The two cannot be given together.
  Option excludes(Option other) const;
  // Rejects an empty value, such as an unset shell variable, with this message.
  Option not_empty(const std::string& message) const;

 private:
  CLI::Option* option_;
};

// A verb or a subcommand of a verb. Parsing writes to the values, which must live as long as the
// action.
class Command {
 public:
  Command(CLI::App* app, Action* action) : app_(app), action_(action) {}

  // The first lines of `help` are the summary; lines from "Example: " on are examples. The user
  // must give one of the subcommands.
  Command subcommand(const std::string& name, const std::string& help);

  // Names with dashes ("-o,--output") are options, names without dashes are arguments.
  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, std::optional<std::string>& value,
                const std::string& help);
  Option option(const std::string& names, std::optional<int64_t>& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);

  // The whole program, to generate documentation from.
  CommandInfo program() const;

  // Text below the options in --help.
  void footer(const std::string& text);
  // What the command does.
  void run(Action action);

 private:
  CLI::App* app_;
  Action* action_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description,
              const std::function<std::string()>& version);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Command root();
  // Parses the words and runs the verb. Prints --help and --version. Throws `Error` for invalid
  // usage.
  int run(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
  Action action_;
};

}  // namespace epi::cli
