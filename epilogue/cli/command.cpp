// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/command.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"

namespace epi::cli {
namespace {

OptionInfo info_of(const verbs::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.names()) {
    // --in_dim is another spelling of --in-dim.
    if (option.is_argument() || name.find('_') == std::string::npos) info.names.push_back(name);
  }
  if (!option.is_argument()) info.value = option.value_name();
  info.help = option.help();
  info.required = option.is_required();
  info.repeatable = option.is_argument() && option.is_list();
  return info;
}

OptionInfo flag_info(std::vector<std::string> names, const char* help) {
  OptionInfo info;
  info.names = std::move(names);
  info.help = help;
  return info;
}

struct Summary {
  std::string text;
  std::vector<std::string> examples;
};

// The help holds a summary, then lines of examples.
Summary parse_help(const std::string& help) {
  constexpr std::string_view kExample = "Example: ";
  Summary summary;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const bool is_first = line.starts_with(kExample);
    if (is_first || !summary.examples.empty()) {
      const size_t start = is_first ? kExample.size() : line.find_first_not_of(' ');
      summary.examples.push_back(line.substr(std::min(start, line.size())));
    } else {
      summary.text += (summary.text.empty() ? "" : " ") + line;
    }
  }
  return summary;
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
std::string reworded(const CommandInfo& info, const CLI::ParseError& error) {
  std::string text = error.what();
  const auto before = [&](std::string_view part) { return text.substr(0, text.find(part)); };
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::RequiredError: {
      std::vector<std::string> words;
      for (const CommandInfo& one : info.subcommands) words.push_back(one.word());
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

// Adds an option whose value goes to a target, whatever its type.
struct AddOption {
  CLI::App& app;
  const verbs::Option& option;

  std::string names() const { return join(option.names(), ","); }

  CLI::Option* operator()(bool* value) const { return app.add_flag(names(), *value); }
  CLI::Option* operator()(std::string* value) const {
    if (option.value_if_bare().empty()) return app.add_option(names(), *value);
    return app.add_flag(fmt::format("{}{{{}}}", names(), option.value_if_bare()), *value);
  }
  CLI::Option* operator()(verbs::TraceSource* value) const {
    return app.add_option(names(), value->path);
  }
  CLI::Option* operator()(std::optional<verbs::TraceSource>* value) const {
    return app.add_option_function<std::string>(
        names(), [value](const std::string& path) { *value = {path, nullptr}; });
  }
  CLI::Option* operator()(std::vector<verbs::TraceSource>* values) const {
    return app.add_option_function<std::vector<std::string>>(
        names(), [values](const std::vector<std::string>& paths) {
          for (const std::string& path : paths) values->push_back({path, nullptr});
        });
  }
  template <typename T>
  CLI::Option* operator()(T* value) const {
    return app.add_option(names(), *value);
  }
};

// The commands as CLI11 has them.
class Parser {
 public:
  Parser(const Command& program, const std::function<std::string()>& version)
      : app_("", program.name()) {
    app_.set_version_flag("--version", version);
    app_.set_help_flag("-h,--help");
    // Subcommands inherit the formatter.
    app_.formatter_fn([this](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
      return help_text(command_of(app).info());
    });
    add(program, app_);
  }

  const Command& command_of(const CLI::App* app) const { return *commands_.at(app); }

  int run(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // CLI11 expects reverse order
    try {
      app_.parse(words);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app_.exit(error);
      throw Error(usage_message(error));
    }
    return command_of(given()).action()();
  }

 private:
  void add(const Command& command, CLI::App& app) {
    commands_[&app] = &command;
    std::map<const verbs::Option*, CLI::Option*> added;
    for (const verbs::Option& option : command.all()) {
      if (option.names().empty()) continue;
      CLI::Option* one = std::visit(AddOption{app, option}, option.target());
      one->required(option.is_required());
      if (option.is_repeatable()) one->expected(1)->allow_extra_args(false)->take_all();
      if (!option.empty_message().empty()) {
        one->check([message = option.empty_message()](const std::string& text) {
          return text.empty() ? message : std::string();
        });
      }
      for (const verbs::Option* other : option.excluded()) one->excludes(added.at(other));
      added[&option] = one;
    }
    for (const Command& one : command.subcommands()) {
      add(one, *app.add_subcommand(one.info().word()));
    }
    if (!command.subcommands().empty()) app.require_subcommand(1);
  }

  // The innermost command of the words.
  const CLI::App* given() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return app;
  }

  // The error message: verb, mistake, suggestion, and the --help to read.
  std::string usage_message(const CLI::ParseError& error) const {
    const CommandInfo info = command_of(given()).info();
    const size_t space = info.name.find(' ');
    const std::string where =
        space == std::string::npos ? "" : fmt::format("[{}] ", info.name.substr(space + 1));
    const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
    const auto unknown = app_.remaining(true);
    std::string what = reworded(info, error);
    if (!unknown.empty() &&
        (code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError)) {
      const bool is_option = unknown.front().starts_with("-");
      const char* kind = is_option                  ? "unknown option"
                         : info.subcommands.empty() ? "unexpected argument"
                                                    : "unknown command";
      what = fmt::format("{} \"{}\"{}", kind, unknown.front(), suggestion(unknown.front(), info));
    }
    return fmt::format("{}{}; see {} --help", where, what, info.name);
  }

  CLI::App app_;
  std::map<const CLI::App*, const Command*> commands_;
};

}  // namespace

Command::Command(const Command* parent, const std::string& name, std::string help)
    : parent_(parent),
      name_(parent == nullptr ? name : parent->name_ + ' ' + name),
      help_(std::move(help)) {}

Command& Command::subcommand(const std::string& name, const std::string& help) {
  return subcommands_.emplace_back(this, name, help);
}

CommandInfo Command::info() const {
  CommandInfo info;
  info.name = name_;
  Summary summary = parse_help(help_);
  info.summary = std::move(summary.text);
  info.examples = std::move(summary.examples);
  info.footer = footer().empty() && parent_ != nullptr ? parent_->footer() : footer();
  if (parent_ == nullptr) {
    info.options.push_back(flag_info({"--version"}, "Print the version and how it was built"));
  }
  info.options.push_back(flag_info({"-h", "--help"}, "Print this help"));
  for (const verbs::Option& option : all()) {
    if (option.names().empty()) continue;
    (option.is_argument() ? info.arguments : info.options).push_back(info_of(option));
  }
  for (const Command& one : subcommands_) info.subcommands.push_back(one.info());
  return info;
}

int run_command(const Command& program, const std::vector<std::string>& words,
                const std::function<std::string()>& version) {
  return Parser(program, version).run(words);
}

}  // namespace epi::cli
