// SPDX-License-Identifier: Apache-2.0
// `epilogue man` and `epilogue completion`: documentation generated from the table of commands.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "epilogue/base/error.h"
#include "epilogue/base/output_file.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/help/command_info.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/verbs.h"

namespace epi::cli {
namespace {

struct ManFlags {
  std::string verb;
  std::string output;
  bool force = false;
};

int write_pages(const CommandInfo& program, const std::string& folder, bool force) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const auto write = [&](const CommandInfo& command) {
    const auto path = std::filesystem::path(folder) / (man_page_name(command) + ".1");
    refuse_foreign_file("man", path.string(), Content::kManPage, force);
    throw_if_failed(write_file_atomically(path.string(), man_page(command, version_number())));
  };
  write(program);
  for (const CommandInfo& verb : program.subcommands) write(verb);
  return kDone;
}

int print_page(const CommandInfo& program, const ManFlags& flags) {
  if (!flags.output.empty()) return write_pages(program, flags.output, flags.force);
  if (flags.verb.empty()) {
    print_out("{}", man_page(program, version_number()));
    return kDone;
  }
  const auto verb = std::find_if(program.subcommands.begin(), program.subcommands.end(),
                                 [&](const CommandInfo& one) { return one.word() == flags.verb; });
  if (verb == program.subcommands.end()) fail("man", "\"{}\" is not a command", flags.verb);
  print_out("{}", man_page(*verb, version_number()));
  return kDone;
}

}  // namespace

void add_man(Command& verb) {
  auto flags = std::make_shared<ManFlags>();
  verb.option("COMMAND", flags->verb, "The command to document (default: epilogue itself)");
  verb.option("-o,--output", flags->output, "Writes every page into this folder instead")
      .value_name("FOLDER");
  verb.flag("--force", flags->force, "With -o: replace files that are not man pages of this tool");
  verb.run([flags, verb] { return print_page(verb.program(), *flags); });
}

void add_completion(Command& verb) {
  auto shell = std::make_shared<std::string>();
  verb.option("SHELL", *shell, "bash or zsh").required();
  verb.run([shell, verb] {
    if (*shell != "bash" && *shell != "zsh") {
      fail("completion", "\"{}\" is not supported: bash or zsh", *shell);
    }
    const CommandInfo program = verb.program();
    print_out("{}", *shell == "bash" ? bash_completion(program) : zsh_completion(program));
    return static_cast<int>(kDone);
  });
}

}  // namespace epi::cli
