// SPDX-License-Identifier: Apache-2.0
// The options of a verb as data. The command line, the C interface, --help, the man pages and the
// shell completion are made from it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "epilogue/verbs/traces.h"

namespace epi::verbs {

// A flag, an option or an argument.
class Option {
 public:
  // Where the value goes. It must live as long as the verb runs.
  using Target = std::variant<bool*, std::string*, std::optional<std::string>*,
                              std::optional<int64_t>*, std::vector<std::string>*, TraceSource*,
                              std::optional<TraceSource>*, std::vector<TraceSource>*>;

  Option(const std::string& names, Target target, std::string help);

  // What --help shows for the value: "FILE", "on|off".
  Option& value_name(const std::string& name);
  Option& required();
  // May be given several times, with one value each.
  Option& repeatable();
  // The two cannot be given together.
  Option& excludes(const Option& other);
  // Rejects an empty value, such as an unset shell variable, with this message.
  Option& not_empty(const std::string& message);
  // A flag that may have a value: "--json" means the same as "--json=VALUE".
  Option& optional_value(const std::string& value);
  // The name in the C interface, if it is not the option's.
  Option& key(const std::string& name);

  // "-o", "--output"; of an argument its name: "FILE". Empty for traces that only the C interface
  // passes.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& help() const { return help_; }
  const Target& target() const { return target_; }
  const std::string& value_name() const { return value_name_; }
  const std::string& value_if_bare() const { return value_if_bare_; }
  const std::string& empty_message() const { return empty_message_; }
  const std::vector<const Option*>& excluded() const { return excluded_; }
  // "by_shape" for "--by-shape", unless it was given.
  std::string key() const;
  bool is_argument() const { return !names_.empty() && !names_.front().starts_with('-'); }
  bool is_flag() const { return std::holds_alternative<bool*>(target_); }
  bool is_required() const { return required_; }
  bool is_repeatable() const { return repeatable_; }
  bool is_list() const;
  // Its value is one trace or several.
  bool takes_traces() const;

 private:
  std::vector<std::string> names_;
  std::string help_;
  Target target_;
  std::string value_name_;
  std::string value_if_bare_;
  std::string empty_message_;
  std::string key_;
  std::vector<const Option*> excluded_;
  bool required_ = false;
  bool repeatable_ = false;
};

class Options {
 public:
  Options() = default;
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // Names with dashes ("-o,--output") are options, names without dashes are arguments. The value of
  // a flag is a bool.
  template <typename T>
  Option& add(const std::string& names, T& value, const std::string& help) {
    return all_.emplace_back(names, &value, help);
  }
  // Text below the options in --help.
  void footer(const std::string& text) { footer_ = text; }

  const std::deque<Option>& all() const { return all_; }
  const std::string& footer() const { return footer_; }
  // The option with this name: "--json". Null if there is none.
  const Option* find(const std::string& name) const;

 private:
  std::deque<Option> all_;  // options keep their places: they refer to each other
  std::string footer_;
};

}  // namespace epi::verbs
