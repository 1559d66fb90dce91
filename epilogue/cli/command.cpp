// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/command.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"

namespace epi::cli {
namespace {

std::string name_of(const CLI::App* app) {
  const CLI::App* parent = app->get_parent();
  return parent == nullptr ? app->get_name() : name_of(parent) + ' ' + app->get_name();
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info;
  if (option.get_positional()) {
    info.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_snames()) info.names.push_back('-' + name);
    for (const std::string& name : option.get_lnames()) {
      // --in_dim is another spelling of --in-dim.
      if (name.find('_') == std::string::npos) info.names.push_back("--" + name);
    }
    const bool takes_value = option.get_items_expected_max() > 0;
    if (takes_value) info.value = option.get_type_name();
  }
  info.help = option.get_description();
  info.required = option.get_required();
  info.repeatable = option.get_expected_max() > 1;
  return info;
}

// The description holds a summary, then lines of examples.
CommandInfo describe(const CLI::App& app) {
  CommandInfo info;
  info.name = name_of(&app);
  info.footer = app.get_footer();
  constexpr std::string_view kExample = "Example: ";
  std::istringstream lines(app.get_description());
  for (std::string line; std::getline(lines, line);) {
    const bool is_first = line.starts_with(kExample);
    if (is_first || !info.examples.empty()) {
      const size_t start = is_first ? kExample.size() : line.find_first_not_of(' ');
      info.examples.push_back(line.substr(std::min(start, line.size())));
    } else {
      info.summary += (info.summary.empty() ? "" : " ") + line;
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? info.arguments : info.options).push_back(describe(*option));
  }
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    info.subcommands.push_back(describe(*one));
  }
  return info;
}

// The edit distance: the number of insertions, deletions and replacements.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

// "; did you mean --under", or empty if no name is similar.
std::string suggestion(const std::string& word, const CommandInfo& command) {
  std::vector<std::string> known;
  for (const CommandInfo& one : command.subcommands) known.push_back(one.word());
  for (const OptionInfo& option : command.options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& one : known) {
    const size_t letters = distance(word.substr(0, word.find('=')), one);
    if (letters < least) {
      least = letters;
      nearest = &one;
    }
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean {}", *nearest);
}

// CLI11's messages, reworded.
std::string reworded(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  const auto before = [&](std::string_view part) { return text.substr(0, text.find(part)); };
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::RequiredError: {
      std::vector<std::string> words;
      for (const CommandInfo& one : describe(app).subcommands) words.push_back(one.word());
      if (!words.empty()) return "a command is missing: " + join(words, ", ");
      return before(" is required") + " is missing";
    }
    case CLI::ExitCodes::ArgumentMismatch:
      return before(":") + " needs a value";
    case CLI::ExitCodes::ConversionError: {
      constexpr std::string_view kStart = "Could not convert: ";
      std::string given = text.starts_with(kStart) ? text.substr(kStart.size()) : text;
      if (const size_t equals = given.find(" = "); equals != std::string::npos) {
        given.replace(equals, 3, " ");
      }
      return given + ": not a valid number";
    }
    case CLI::ExitCodes::ExcludesError:
      return before(" excludes ") + " cannot be combined with " +
             text.substr(text.find(" excludes ") + 10);
    default:
      return text;
  }
}

// The error message: verb, mistake, suggestion, and the --help to read.
std::string usage_message(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const std::string name = name_of(app);
  const std::string where =
      app == &root ? "" : fmt::format("[{}] ", name.substr(name.find(' ') + 1));
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const auto unknown = root.remaining(true);
  std::string what = reworded(*app, error);
  if (!unknown.empty() &&
      (code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError)) {
    const CommandInfo info = describe(*app);
    const bool is_option = unknown.front().starts_with("-");
    const char* kind = is_option                  ? "unknown option"
                       : info.subcommands.empty() ? "unexpected argument"
                                                  : "unknown command";
    what = fmt::format("{} \"{}\"{}", kind, unknown.front(), suggestion(unknown.front(), info));
  }
  return fmt::format("{}{}; see {} --help", where, what, name);
}

}  // namespace

Option Option::value_name(const std::string& name) const {
  return Option(option_->type_name(name));
}

Option Option::required() const { return Option(option_->required()); }

Option Option::repeatable() const {
  return Option(option_->expected(1)->allow_extra_args(false)->take_all());
}

Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Option Option::not_empty(const std::string& message) const {
  return Option(option_->check(
      [message](const std::string& text) { return text.empty() ? message : std::string(); }));
}

Command Command::subcommand(const std::string& name, const std::string& help) {
  app_->require_subcommand(1);
  return {app_->add_subcommand(name, help), action_};
}

Option Command::option(const std::string& names, std::string& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::optional<std::string>& value,
                       const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::optional<int64_t>& value,
                       const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::option(const std::string& names, std::vector<std::string>& values,
                       const std::string& help) {
  return Option(app_->add_option(names, values, help));
}

Option Command::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::run(Action action) {
  app_->callback([slot = action_, action = std::move(action)] { *slot = action; });
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::function<std::string()>& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->set_version_flag("--version", version, "Print the version and how it was built");
  app_->set_help_flag("-h,--help", "Print this help");
  // Subcommands inherit the formatter.
  app_->formatter_fn([](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    return help_text(describe(*app));
  });
}

CommandInfo Command::program() const {
  const CLI::App* app = app_;
  while (app->get_parent() != nullptr) app = app->get_parent();
  return describe(*app);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return {app_.get(), &action_}; }

int CommandLine::run(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 expects reverse order
  try {
    app_->parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_->exit(error);
    throw Error(usage_message(*app_, error));
  }
  return action_();
}

}  // namespace epi::cli
