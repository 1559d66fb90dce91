// SPDX-License-Identifier: Apache-2.0
// The command line: verbs with their flags, options and arguments. Only command.cpp includes CLI11,
// which takes a compiler longer than all of our verbs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace epi::cli {

// Runs a verb; returns its exit code (exit_codes.h).
using Action = std::function<int()>;

// A flag, an option or an argument that was added to a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  // What stands for the value in --help: "FILE".
  Option value_name(const std::string& name) const;
  Option required() const;
  // Takes one value each time that it is given.
  Option repeatable() const;
  // The two cannot be given together.
  Option excludes(Option other) const;
  // An empty value, as of a shell variable that is not set, is an error with this message.
  Option not_empty(const std::string& message) const;

 private:
  CLI::Option* option_;
};

// A verb, or a verb of a verb. Values are written to when the command line is parsed: they must
// live as long as the action.
class Command {
 public:
  Command(CLI::App* app, Action* action) : app_(app), action_(action) {}

  // The help's first line is what the list of verbs shows. One of the subcommands must be given.
  Command subcommand(const std::string& name, const std::string& help);
  // The width of the names' column in the list of subcommands.
  void subcommand_column(size_t width);

  // Names with dashes ("-o,--output") are options, without them arguments.
  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, std::optional<std::string>& value,
                const std::string& help);
  Option option(const std::string& names, std::optional<int64_t>& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& values,
                const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);

  // Text below the options in --help.
  void footer(const std::string& text);
  // What the command does when it was the one that was given.
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
  // Parses and runs the verb; prints --help and --version itself. Throws `Error` for a mistake in
  // the words.
  int run(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
  Action action_;
};

}  // namespace epi::cli
