// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/options.h"

#include <algorithm>
#include <utility>

namespace epi::verbs {

Option::Option(const std::string& names, Target target, std::string help)
    : help_(std::move(help)), target_(target) {
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    names_.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
}

Option& Option::value_name(const std::string& name) {
  value_name_ = name;
  return *this;
}

Option& Option::required() {
  required_ = true;
  return *this;
}

Option& Option::repeatable() {
  repeatable_ = true;
  return *this;
}

Option& Option::excludes(const Option& other) {
  excluded_.push_back(&other);
  return *this;
}

Option& Option::not_empty(const std::string& message) {
  empty_message_ = message;
  return *this;
}

Option& Option::optional_value(const std::string& value) {
  value_if_bare_ = value;
  return *this;
}

Option& Option::key(const std::string& name) {
  key_ = name;
  return *this;
}

std::string Option::key() const {
  if (!key_.empty() || names_.empty()) return key_;
  // The last spelling: "output" of "-o,--output".
  std::string key = names_.back();
  key.erase(0, key.find_first_not_of('-'));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

bool Option::is_list() const {
  return std::holds_alternative<std::vector<std::string>*>(target_) ||
         std::holds_alternative<std::vector<TraceSource>*>(target_);
}

bool Option::takes_traces() const {
  return std::holds_alternative<TraceSource*>(target_) ||
         std::holds_alternative<std::optional<TraceSource>*>(target_) ||
         std::holds_alternative<std::vector<TraceSource>*>(target_);
}

const Option* Options::find(const std::string& name) const {
  for (const Option& option : all_) {
    const auto& names = option.names();
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

}  // namespace epi::verbs
