// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "epilogue/base/join.h"
#include "epilogue/cli/help/command_info.h"

namespace epi::cli {
namespace {

// "on|off" is a choice; "FILE" and "A|B" with capitals name what is expected.
std::vector<std::string> choices(const OptionInfo& option) {
  std::vector<std::string> out;
  if (option.value.find('|') == std::string::npos) return out;
  std::string_view rest = option.value;
  while (true) {
    const size_t bar = rest.find('|');
    out.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) return out;
    rest.remove_prefix(bar + 1);
  }
}

std::vector<std::string> words_of(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> words;
  for (const CommandInfo& one : commands) words.push_back(one.word());
  return words;
}

std::vector<std::string> flags_of(const CommandInfo& command) {
  std::vector<std::string> flags;
  for (const OptionInfo& option : command.options) {
    flags.insert(flags.end(), option.names.begin(), option.names.end());
  }
  return flags;
}

// Commands without the program's name, "advise" and "run mlp": those that take options.
template <typename Visit>
void for_each_command(const CommandInfo& program, Visit&& visit) {
  for (const CommandInfo& verb : program.subcommands) {
    visit(verb.word(), verb);
    for (const CommandInfo& one : verb.subcommands) visit(verb.word() + ' ' + one.word(), one);
  }
}

// In single quotes; zsh reads colons and brackets in descriptions.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == ':' || c == '[' || c == ']' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string zsh_option(const OptionInfo& option) {
  std::string tail;
  if (!option.value.empty()) {
    const auto words = choices(option);
    const std::string action = words.empty() ? "_files" : '(' + join(words, " ") + ')';
    tail = fmt::format(":{}:{}", zsh_text(words.empty() ? option.value : "value"), action);
  }
  std::string out;
  for (const std::string& name : option.names) {
    out += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_text(option.help), tail);
  }
  return out;
}

std::string zsh_arguments(const CommandInfo& command) {
  std::string out = "_arguments";
  for (const OptionInfo& option : command.options) out += zsh_option(option);
  return out + " \\\n        '*:file:_files'";
}

std::string zsh_list(const char* name, const std::vector<CommandInfo>& commands) {
  std::string out = fmt::format("  local -a {}=(\n", name);
  for (const CommandInfo& one : commands) {
    out += fmt::format("    '{}:{}'\n", one.word(), zsh_text(one.summary));
  }
  return out + "  )\n";
}

}  // namespace

std::string bash_completion(const CommandInfo& program) {
  std::string out =
      "# Completion of epilogue for bash, printed by `epilogue completion bash`.\n"
      "_epilogue() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command=${COMP_WORDS[1]} words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format("    words=\"{} {}\"\n", join(words_of(program.subcommands), " "),
                     join(flags_of(program), " "));
  out += "  else\n    case $command in\n";
  for (const CommandInfo& verb : program.subcommands) {
    if (verb.subcommands.empty()) continue;
    out += fmt::format(
        "      {})\n        if [ \"$COMP_CWORD\" -eq 2 ]; then words=\"{}\"; fi\n"
        "        command+=\" ${{COMP_WORDS[2]}}\" ;;\n",
        verb.word(), join(words_of(verb.subcommands), " "));
  }
  out += "    esac\n  fi\n";
  out += "  case \"$command $prev\" in\n";
  for_each_command(program, [&](const std::string& name, const CommandInfo& command) {
    for (const OptionInfo& option : command.options) {
      const auto values = choices(option);
      if (values.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& flag : option.names) {
        patterns.push_back(fmt::format("\"{} {}\"", name, flag));
      }
      out += fmt::format("    {}) words=\"{}\" ;;\n", join(patterns, " | "), join(values, " "));
    }
  });
  out += "  esac\n  if [[ $cur == -* ]]; then\n    case $command in\n";
  for_each_command(program, [&](const std::string& name, const CommandInfo& command) {
    out += fmt::format("      \"{}\") words=\"{}\" ;;\n", name, join(flags_of(command), " "));
  });
  out +=
      "    esac\n  fi\n"
      "  if [ -n \"$words\" ]; then mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"); "
      "fi\n"
      "}\n"
      "complete -o bashdefault -o default -F _epilogue epilogue epi\n";
  return out;
}

std::string zsh_completion(const CommandInfo& program) {
  std::string out =
      "#compdef epilogue epi\n"
      "# Completion of epilogue for zsh, printed by `epilogue completion zsh`.\n"
      "_epilogue() {\n"
      "  local curcontext=\"$curcontext\" state line\n";
  out += zsh_list("verbs", program.subcommands);
  out +=
      "  _arguments -C '1: :->verb' '*:: :->rest'\n"
      "  if [[ $state == verb ]]; then\n"
      "    _describe -t verbs verb verbs\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  case $words[1] in\n";
  for (const CommandInfo& verb : program.subcommands) {
    out += fmt::format("    {})\n", verb.word());
    if (verb.subcommands.empty()) {
      out += fmt::format("      {} ;;\n", zsh_arguments(verb));
      continue;
    }
    out += zsh_list("commands", verb.subcommands);
    out +=
        "      if (( CURRENT == 2 )); then _describe -t commands command commands; return; fi\n"
        "      shift words; (( CURRENT-- ))\n"
        "      case $words[1] in\n";
    for (const CommandInfo& one : verb.subcommands) {
      out += fmt::format("      {})\n        {} ;;\n", one.word(), zsh_arguments(one));
    }
    out += "      esac ;;\n";
  }
  return out + "  esac\n}\n_epilogue \"$@\"\n";
}

}  // namespace epi::cli
