// SPDX-License-Identifier: Apache-2.0
// A command as data: --help, the man pages and the shell completion are generated from it.
#pragma once

#include <string>
#include <vector>

namespace epi::cli {

struct OptionInfo {
  std::vector<std::string> names;  // "-o", "--output"; of an argument its name: "FILE"
  std::string value;               // "NAME", "on|off"; empty for a flag
  std::string help;
  bool required = false;
  bool repeatable = false;
};

struct CommandInfo {
  std::string name;                   // "epilogue advise"
  std::string summary;                // "What would help, by how much, and why"
  std::vector<std::string> examples;  // "epilogue advise trace.json.gz"
  std::string footer;
  std::vector<OptionInfo> arguments;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> subcommands;

  // The last word of `name`.
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

// "epilogue advise [OPTIONS] FILE..."
std::string usage_text(const CommandInfo& command);

// What --help prints.
std::string help_text(const CommandInfo& command);

// The man page of a command and its subcommands, in roff: `epilogue.1`, `epilogue-advise.1`.
std::string man_page(const CommandInfo& command, const std::string& version);
std::string man_page_name(const CommandInfo& command);

// Completion scripts for the whole program.
std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);

}  // namespace epi::cli
