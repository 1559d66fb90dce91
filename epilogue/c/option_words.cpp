// SPDX-License-Identifier: Apache-2.0
#include "epilogue/c/option_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "epilogue/base/error.h"
#include "epilogue/base/simdjson_start.h"

namespace epi::c {
namespace {

// None for a value that leaves the option out.
std::optional<std::string> scalar_text(const std::string& key, simdjson::dom::element value) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::STRING:
      return std::string(std::string_view(value));
    case element_type::INT64:
      return fmt::format("{}", int64_t(value));
    case element_type::UINT64:
      return fmt::format("{}", uint64_t(value));
    case element_type::DOUBLE:
      return fmt::format("{}", double(value));
    case element_type::BOOL:
      return bool(value) ? std::optional<std::string>("true") : std::nullopt;
    case element_type::NULL_VALUE:
      return std::nullopt;
    default:
      break;
  }
  throw Error(fmt::format("option \"{}\": expected a string, a number, true, false or null", key));
}

std::vector<std::string> values_of(const std::string& key, simdjson::dom::element value) {
  std::vector<std::string> values;
  const auto add = [&](simdjson::dom::element one) {
    if (auto text = scalar_text(key, one)) values.push_back(std::move(*text));
  };
  if (value.is_array()) {
    for (const simdjson::dom::element one : simdjson::dom::array(value)) add(one);
  } else {
    add(value);
  }
  return values;
}

// The keys of the arguments that are not traces.
constexpr std::pair<std::string_view, std::string_view> kArgumentKeys[] = {
    {"rules", "RULE"}, {"kernels", "NAME"}, {"sql", "SQL"}};
// Options whose key differs from their flag, because an argument has it.
constexpr std::pair<std::string_view, std::string_view> kOptionKeys[] = {{"rules_file", "rules"}};
// Options of the command that are given in another way here.
constexpr std::pair<std::string_view, std::string_view> kOtherWays[] = {
    {"json", "choose the format"},
    {"md", "choose the format"},
    {"csv", "choose the format"},
    {"help", "see epilogue --help"},
    {"also", "pass several traces"},
    {"against", "pass two traces"},
    {"step_pattern", "it is an option of opening a trace"},
    {"max_unpacked", "it is an option of opening a trace"},
    {"names_file", "only the command has it"}};

template <typename Pairs>
std::optional<std::string_view> find(const Pairs& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return value;
  }
  return std::nullopt;
}

bool has_argument(const cli::CommandInfo& command, std::string_view name) {
  return std::any_of(command.arguments.begin(), command.arguments.end(),
                     [&](const cli::OptionInfo& one) { return one.names.front() == name; });
}

const cli::OptionInfo* find_option(const cli::CommandInfo& command, const std::string& name) {
  for (const cli::OptionInfo& option : command.options) {
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
      return &option;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse(const cli::CommandInfo& command, const std::string& key) {
  const auto other_way = find(kOtherWays, key);
  throw Error(fmt::format("[{}] {}option \"{}\"{}{}", command.word(), other_way ? "" : "unknown ",
                          key, other_way ? ": " : "", other_way.value_or("")));
}

void add_option(const cli::CommandInfo& command, const std::string& key,
                const std::vector<std::string>& values, std::vector<std::string>& words) {
  std::string name = "--" + std::string(find(kOptionKeys, key).value_or(key));
  std::replace(name.begin(), name.end(), '_', '-');
  const cli::OptionInfo* option = find(kOtherWays, key) ? nullptr : find_option(command, name);
  if (option == nullptr) refuse(command, key);
  for (const std::string& value : values) {
    const bool is_flag = option->value.empty();
    if (is_flag && value != "true") {
      throw Error(fmt::format("[{}] option \"{}\": expected true or false", command.word(), key));
    }
    words.push_back(is_flag ? name : fmt::format("{}={}", name, value));
  }
}

// The traces: all as arguments, or the first as an argument and the others as values of an option.
void add_traces(const cli::CommandInfo& command, const std::vector<std::string>& traces,
                std::vector<std::string>& options, std::vector<std::string>& arguments) {
  const char* other = find_option(command, "--also") != nullptr      ? "--also"
                      : find_option(command, "--against") != nullptr ? "--against"
                                                                     : nullptr;
  for (size_t i = 0; i < traces.size(); ++i) {
    if (i == 0 || other == nullptr) {
      arguments.push_back(traces[i]);
    } else {
      options.push_back(fmt::format("{}={}", other, traces[i]));
    }
  }
}

}  // namespace

Options parse_options(const char* text) {
  Options options;
  if (text == nullptr) return options;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(text, std::strlen(text)).get(root)) {
    throw Error(fmt::format("options: not valid JSON: {}", simdjson::error_message(error)));
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) throw Error("options: expected a JSON object");
  for (const auto& [key, value] : object) {
    std::string name(key);
    std::replace(name.begin(), name.end(), '-', '_');
    auto values = values_of(name, value);
    if (!values.empty()) options.emplace_back(name, std::move(values));
  }
  return options;
}

std::vector<std::string> option_words(const cli::CommandInfo& command, const Options& options,
                                      const std::vector<std::string>& traces) {
  std::vector<std::string> words{command.word()};
  std::vector<std::string> arguments;
  add_traces(command, traces, words, arguments);
  for (const auto& [key, values] : options) {
    const auto argument = find(kArgumentKeys, key);
    if (argument && has_argument(command, *argument)) {
      arguments.insert(arguments.end(), values.begin(), values.end());
    } else {
      add_option(command, key, values, words);
    }
  }
  // What follows is an argument, even if it starts with a dash.
  if (!arguments.empty()) words.emplace_back("--");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace epi::c
