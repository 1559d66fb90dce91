// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "epilogue/base/join.h"
#include "epilogue/cli/help/command_info.h"

namespace epi::cli {
namespace {

// Backslashes and dashes have a meaning in roff, and so have a dot or a quote at a line's start.
std::string roff(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string section(const char* title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

std::string option_items(const std::vector<OptionInfo>& options) {
  std::string out;
  for (const OptionInfo& option : options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
    const std::string value = option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR";
    out += fmt::format(".TP\n{}{}\n{}\n", join(names, ", "), value, roff(option.help));
  }
  return out;
}

std::string verbatim(const std::string& text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

// What one command of the page takes.
std::string command_text(const CommandInfo& command, const std::string& footer) {
  std::string out;
  if (!footer.empty()) out += ".PP\n" + verbatim(footer);
  out += option_items(command.arguments) + option_items(command.options);
  return out;
}

std::string examples_text(const CommandInfo& command) {
  std::vector<std::string> lines = command.examples;
  for (const CommandInfo& one : command.subcommands) {
    lines.insert(lines.end(), one.examples.begin(), one.examples.end());
  }
  return lines.empty() ? "" : verbatim(join(lines, "\n"));
}

constexpr const char* kExitStatus =
    ".TP\n0\nSuccess.\n"
    ".TP\n1\nA broken rule of expect, a difference with \\-\\-fail\\-if\\-kernels\\-differ, or a\n"
    "package that is not trusted or has no variant for this machine.\n"
    ".TP\n2\nInvalid usage or input, or a failure of the network, memory or disk. One line on\n"
    "standard error names the file, the place and the rule.\n"
    ".TP\n3\nA bug in epilogue.\n";

constexpr const char* kEnvironment =
    ".TP\n\\fBEPILOGUE_CACHE\\fR\nFolder of the compile cache and of fetched kernel packages.\n"
    ".TP\n\\fBNO_COLOR\\fR\nDisables color.\n";

}  // namespace

std::string man_page_name(const CommandInfo& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const CommandInfo& command, const std::string& version) {
  const std::string name = man_page_name(command);
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool is_program = command.name.find(' ') == std::string::npos;
  std::string out =
      fmt::format(".TH {} 1 \"\" \"epilogue {}\" \"Epilogue\"\n", roff(title), version);
  out += section("NAME", fmt::format("{} \\- {}\n", roff(name), roff(command.summary)));
  std::string synopsis = roff(usage_text(command)) + '\n';
  if (is_program) synopsis += ".br\n" + roff(command.name) + " FILE\n";
  if (!is_program) {
    for (const CommandInfo& one : command.subcommands) {
      synopsis += ".br\n" + roff(usage_text(one)) + '\n';
    }
  }
  out += section("SYNOPSIS", synopsis);
  if (is_program) {
    std::string verbs;
    for (const CommandInfo& one : command.subcommands) {
      verbs += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(man_page_name(one)), roff(one.summary));
    }
    out += section("COMMANDS", verbs);
  }
  out += section("OPTIONS", command_text(command, command.footer));
  if (!is_program) {
    for (const CommandInfo& one : command.subcommands) {
      out += section(fmt::format("\"{}\"", roff(one.name)).c_str(),
                     roff(one.summary) + '\n' +
                         command_text(one, one.footer == command.footer ? "" : one.footer));
    }
  }
  out += section("EXAMPLES", examples_text(command));
  out += section("EXIT STATUS", kExitStatus);
  if (is_program) out += section("ENVIRONMENT", kEnvironment);
  if (!is_program) out += section("SEE ALSO", ".BR epilogue (1)\n");
  return out;
}

}  // namespace epi::cli
