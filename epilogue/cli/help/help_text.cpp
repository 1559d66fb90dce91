// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/cli/help/command_info.h"
#include "epilogue/report/text/text.h"

namespace epi::cli {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kMaxColumn = 30;  // a longer name has a line of its own

std::string argument_text(const OptionInfo& argument) {
  const std::string name = argument.names.front() + (argument.repeatable ? "..." : "");
  return argument.required ? name : '[' + name + ']';
}

// "-o, --output FILE"
std::string option_text(const OptionInfo& option) {
  std::string text = join(option.names, ", ");
  if (!option.value.empty()) text += ' ' + option.value;
  return text;
}

struct Row {
  std::string name;
  std::string help;
};

// Names in one column, help beside them, wrapped.
std::string rows_text(const char* title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  size_t longest = 0;
  for (const Row& row : rows) {
    if (row.name.size() <= kMaxColumn) longest = std::max(longest, row.name.size());
  }
  const size_t column = 2 + longest + 2;
  std::string out = fmt::format("\n{}:\n", title);
  for (const Row& row : rows) {
    const std::string help = report::indented(row.help, column, kWidth);
    if (row.name.size() <= longest) {
      out += fmt::format("  {:<{}}{}\n", row.name, column - 2, help.substr(column));
    } else {
      out += fmt::format("  {}\n{}\n", row.name, help);
    }
  }
  return out;
}

}  // namespace

std::string usage_text(const CommandInfo& command) {
  std::string text = command.name + " [OPTIONS]";
  if (!command.subcommands.empty()) text += " COMMAND";
  for (const OptionInfo& argument : command.arguments) text += ' ' + argument_text(argument);
  return text;
}

std::string help_text(const CommandInfo& command) {
  std::string out = command.summary + "\n\nUsage: " + usage_text(command) + '\n';
  for (const std::string& example : command.examples) {
    out += fmt::format("{}{}\n", &example == command.examples.data() ? "Example: " : "         ",
                       example);
  }
  std::vector<Row> rows;
  for (const CommandInfo& one : command.subcommands) rows.push_back({one.word(), one.summary});
  out += rows_text("Commands", rows);
  rows.clear();
  for (const OptionInfo& one : command.arguments) rows.push_back({one.names.front(), one.help});
  out += rows_text("Arguments", rows);
  rows.clear();
  for (const OptionInfo& one : command.options) rows.push_back({option_text(one), one.help});
  out += rows_text("Options", rows);
  if (!command.footer.empty()) out += '\n' + command.footer + '\n';
  return out;
}

}  // namespace epi::cli
