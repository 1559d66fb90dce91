// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/cpp_name.h"

namespace epi::analysis::names {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// NVIDIA's tools write "(int)4" for a template argument.
std::string_view without_cast(std::string_view arg) {
  const size_t close = arg.find(')');
  if (!arg.starts_with('(') || close + 1 >= arg.size()) return arg;
  const char next = arg[close + 1];
  return next >= '0' && next <= '9' ? arg.substr(close + 1) : arg;
}

// True if a name that is a template argument ends here: before "," or " >".
bool ends_argument(std::string_view text, size_t at) {
  at = text.find_first_not_of(' ', at);
  return at == std::string_view::npos || text[at] == '>' || text[at] == ',';
}

// Characters that nest or separate. Everything else is skipped quickly.
constexpr std::array<bool, 256> make_marks(std::string_view marks) {
  std::array<bool, 256> table{};
  for (const char c : marks) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto kInArgs = make_marks("<>(){},");
constexpr auto kInName = make_marks("<>(, :");

size_t skip_to(std::string_view text, size_t at, const std::array<bool, 256>& marks) {
  while (at < text.size() && !marks[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

// Parses template arguments after a '<'. Returns the position after the closing '>'. Inside
// brackets, < and > are comparisons or balanced, so they are skipped.
size_t read_args(std::string_view text, size_t at, CppName& name) {
  name.arg_count = 0;
  int angles = 1;
  int brackets = 0;
  size_t begin = at;
  const auto end_arg = [&](size_t end) {
    if (name.arg_count < CppName::kMaxArgs && end > begin) {
      name.args[name.arg_count++] = without_cast(trimmed(text.substr(begin, end - begin)));
    }
    begin = end + 1;
  };
  for (at = skip_to(text, at, kInArgs); at < text.size(); at = skip_to(text, at + 1, kInArgs)) {
    const char c = text[at];
    if (c == '(' || c == '{') {
      ++brackets;
    } else if (c == ')' || c == '}') {
      --brackets;
    } else if (brackets > 0 || (c == '>' && text[at - 1] == '-')) {
      continue;
    } else if (c == '<') {
      ++angles;
    } else if (c == '>' && --angles == 0) {
      end_arg(at);
      return at + 1;
    } else if (c == ',' && angles == 1) {
      end_arg(at);
    }
  }
  end_arg(text.size());
  return text.size();
}

}  // namespace

CppName read_cpp_name(std::string_view text) {
  CppName name;
  size_t start = 0;  // of the qualified name, after the return type
  size_t last = 0;   // of its last component
  size_t base_end = std::string_view::npos;
  size_t at = 0;
  while ((at = skip_to(text, at, kInName)) < text.size()) {
    const char c = text[at];
    if (c == '<' && at > 0) {
      base_end = at;
      at = read_args(text, at + 1, name);
      continue;
    }
    if (ends_argument(text, at)) break;
    if (c == '(') {
      if (!text.substr(at).starts_with(kAnonymous)) break;
      at += kAnonymous.size();
      continue;
    }
    // For a functor's call operator, as in ATen, the class name is the base name.
    if (c == ':' && text.substr(at).starts_with("::operator(")) break;
    if (c == ' ') {
      start = last = at + 1;
    } else if (c == ':') {
      last = at + 1;
    }
    if (c == ' ' || c == ':') {
      name.arg_count = 0;
      base_end = std::string_view::npos;
    }
    ++at;
  }
  name.params = text.substr(at);
  name.base = text.substr(last, (base_end == std::string_view::npos ? at : base_end) - last);
  if (last >= start + 2) name.scope = text.substr(start, last - 2 - start);
  return name;
}

std::string_view last_lambda_params(std::string_view text) {
  static constexpr std::string_view kLambda = "{lambda(";
  const size_t at = text.rfind(kLambda);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + kLambda.size();
  const size_t end = text.find(")#", begin);
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin);
}

}  // namespace epi::analysis::names
