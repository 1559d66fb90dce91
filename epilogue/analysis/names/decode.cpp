// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/decode.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/name_rules.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis {
namespace {

using namespace names;

// The length-prefixed identifiers of a mangled name: "_ZN5aiter24add_rmsnorm_quant_kernelI..."
// gives "aiter::add_rmsnorm_quant_kernel". The rest may have types that this machine's C++ library
// cannot demangle.
std::string demangled_scope(std::string_view name) {
  constexpr std::string_view kNested = "_ZN";
  if (!name.starts_with(kNested)) return {};
  name.remove_prefix(kNested.size());
  std::string text;
  while (!name.empty() && is_digit(name.front())) {
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    const auto length = number(name.substr(0, digits));
    if (!length || digits + static_cast<size_t>(*length) > name.size()) return {};
    if (!text.empty()) text += "::";
    text += name.substr(digits, static_cast<size_t>(*length));
    name.remove_prefix(digits + static_cast<size_t>(*length));
  }
  return text;
}

// The demangled form of "_ZN2at6native...". Empty if it is not a mangled name.
std::string demangled(std::string_view name) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, nullptr), &std::free);
  if (text != nullptr) return text.get();
  // The text after the scope still identifies the kind of a wrapped kernel.
  const std::string scope = demangled_scope(name);
  return scope.empty() ? scope : fmt::format("{}<{}>", scope, name);
}

// Tries the families of the table in order.
bool read_words(std::string_view name, DecodedName& out) {
  return std::any_of(std::begin(kWordFamilies), std::end(kWordFamilies),
                     [&](WordFamily read) { return read(name, out); });
}

bool read_function(std::string_view name, DecodedName& out) {
  const CppName cpp = read_cpp_name(name);
  return std::any_of(std::begin(kFunctionFamilies), std::end(kFunctionFamilies),
                     [&](FunctionFamily read) { return read(name, cpp, out); });
}

}  // namespace

std::string function_name(std::string_view name) {
  const std::string text = name.starts_with("_Z") ? demangled(name) : std::string(name);
  const CppName cpp = read_cpp_name(text.empty() ? name : std::string_view(text));
  if (cpp.base.empty()) return std::string(name.substr(0, name.find('(')));
  return cpp.scope.empty() ? std::string(cpp.base) : fmt::format("{}::{}", cpp.scope, cpp.base);
}

namespace {

DecodedName read_grammars(std::string_view name) {
  DecodedName out;
  // Most names start with a return type, and only functions have one.
  if (!name.starts_with("void ")) {
    if (read_words(name, out)) return out;
    out = DecodedName();
  }
  if (read_function(name, out)) return out;
  out = DecodedName();
  read_plain_words(read_cpp_name(name).base, out);
  return out;
}

// Overrides the fields that the rule sets.
void apply_rule(const NameRule& rule, DecodedName& out) {
  const DecodedName& fields = rule.fields;
  if (fields.library != Library::kUnknown) {
    out.library = fields.library;
    out.library_name = fields.library_name;
  }
  if (fields.kind != Kind::kUnknown) out.kind = fields.kind;
  if (fields.dtype != NumberType::kUnknown) out.dtype = fields.dtype;
  if (!fields.ops.empty()) out.ops = fields.ops;
}

}  // namespace

DecodedName decode_name(std::string_view name) {
  std::string text;
  if (name.starts_with("_Z")) text = demangled(name);
  if (!text.empty()) name = text;
  DecodedName out = read_grammars(name);
  const bool is_known = out.library != Library::kUnknown && out.kind != Kind::kUnknown;
  const NameRules* given = names_in_use().get();
  if (is_known && given == nullptr) return out;
  const std::string function = function_name(name);
  const NameRule* rule = given == nullptr ? nullptr : find_rule(*given, function);
  if (rule == nullptr && !is_known) rule = find_rule(known_names(), function);
  if (rule != nullptr) apply_rule(*rule, out);
  return out;
}

}  // namespace epi::analysis
