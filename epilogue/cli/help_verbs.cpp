// SPDX-License-Identifier: Apache-2.0
// `epilogue man`, `epilogue completion` and `epilogue schema`: generated from the tables of
// commands and of results.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/output_file.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/help/command_info.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/verbs/output_rules.h"
#include "epilogue/verbs/verbs.h"

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
    verbs::refuse_foreign_file("man", path.string(), verbs::Content::kManPage, force);
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

struct SchemaFlags {
  std::string verb;
  std::string output;
  bool force = false;
};

int write_schemas(const std::string& folder, bool force) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (const verbs::Verb* verb : verbs::trace_verbs()) {
    const auto path = std::filesystem::path(folder) / fmt::format("{}.schema.json", verb->name);
    verbs::refuse_foreign_file("schema", path.string(), verbs::Content::kSchema, force);
    throw_if_failed(write_file_atomically(path.string(), verb->schema()));
  }
  return kDone;
}

int print_schema(const SchemaFlags& flags) {
  if (!flags.output.empty()) return write_schemas(flags.output, flags.force);
  if (flags.verb.empty()) fail("schema", "expected a verb over traces, or -o FOLDER");
  const verbs::Verb* verb = verbs::find_verb(flags.verb);
  if (verb == nullptr) fail("schema", "\"{}\" is not a verb over traces", flags.verb);
  print_out("{}", verb->schema());
  return kDone;
}

}  // namespace

void add_man(Command& verb) {
  auto flags = std::make_shared<ManFlags>();
  verb.add("COMMAND", flags->verb, "The command to document (default: epilogue itself)");
  verb.add("-o,--output", flags->output, "Writes every page into this folder instead")
      .value_name("FOLDER");
  verb.add("--force", flags->force, "With -o: replace files that are not man pages of this tool");
  verb.run([flags, &verb] { return print_page(verb.program().info(), *flags); });
}

void add_schema(Command& verb) {
  auto flags = std::make_shared<SchemaFlags>();
  verb.add("VERB", flags->verb, "A verb over traces, such as steps");
  verb.add("-o,--output", flags->output, "Writes the schema of every verb into this folder instead")
      .value_name("FOLDER");
  verb.add("--force", flags->force, "With -o: replace files that are not schemas of this tool");
  verb.run([flags] { return print_schema(*flags); });
}

void add_completion(Command& verb) {
  auto shell = std::make_shared<std::string>();
  verb.add("SHELL", *shell, "bash or zsh").required();
  verb.run([shell, &verb] {
    if (*shell != "bash" && *shell != "zsh") {
      fail("completion", "\"{}\" is not supported: bash or zsh", *shell);
    }
    const CommandInfo program = verb.program().info();
    print_out("{}", *shell == "bash" ? bash_completion(program) : zsh_completion(program));
    return static_cast<int>(kDone);
  });
}

}  // namespace epi::cli
