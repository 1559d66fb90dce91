// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/command.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <utility>

#include "epilogue/base/error.h"

namespace epi::cli {
namespace {

// CLI11 asks for a subcommand before it looks at the word that should have been one.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = app.remaining(true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      !unknown.empty()) {
    return fmt::format("\"{}\" is not known here; --help lists what is", unknown.front());
  }
  return error.what();
}

}  // namespace

Option Option::value_name(const std::string& name) const {
  return Option(option_->type_name(name));
}

Option Option::required() const { return Option(option_->required()); }

Option Option::repeatable() const { return Option(option_->expected(1)->take_all()); }

Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Option Option::not_empty(const std::string& message) const {
  return Option(option_->check(
      [message](const std::string& text) { return text.empty() ? message : std::string(); }));
}

Command Command::subcommand(const std::string& name, const std::string& help) {
  app_->require_subcommand(1);
  return {app_->add_subcommand(name, help), action_};
}

void Command::subcommand_column(size_t width) {
  const auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(width);
  app_->formatter(formatter);
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
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return {app_.get(), &action_}; }

int CommandLine::run(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app_->parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_->exit(error);
    throw Error(usage_message(*app_, error));
  }
  return action_();
}

}  // namespace epi::cli
