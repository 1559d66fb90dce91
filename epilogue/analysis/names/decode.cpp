// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/decode.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "epilogue/analysis/names/families.h"

namespace epi::analysis {
namespace {

using namespace names;

// The text of a mangled name ("_ZN2at6native..."); empty where it is none.
std::string demangled(std::string_view name) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

// The first family of the table that knows the name.
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

DecodedName decode_name(std::string_view name) {
  std::string text;
  if (name.starts_with("_Z")) text = demangled(name);
  if (!text.empty()) name = text;
  DecodedName out;
  // Only functions have a return type, and most names do.
  if (!name.starts_with("void ")) {
    if (read_words(name, out)) return out;
    out = DecodedName();
  }
  if (read_function(name, out)) return out;
  out = DecodedName();
  read_plain_words(read_cpp_name(name).base, out);
  return out;
}

}  // namespace epi::analysis
