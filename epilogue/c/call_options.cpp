// SPDX-License-Identifier: Apache-2.0
#include "epilogue/c/call_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <variant>

#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"
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

// The options that every verb has.
enum class Common : uint8_t { kNone, kWidth, kJson, kNamesFile };

Common common_option(const std::string& key) {
  if (key == "width") return Common::kWidth;
  if (key == "json") return Common::kJson;
  if (key == "names_file") return Common::kNamesFile;
  return Common::kNone;
}

// Options of the command that are given in another way here.
constexpr std::pair<std::string_view, std::string_view> kOtherWays[] = {
    {"md", "choose the format"},
    {"csv", "choose the format"},
    {"help", "see epilogue --help"},
    {"step_pattern", "it is an option of opening a trace"},
    {"max_unpacked", "it is an option of opening a trace"}};

[[noreturn]] void refuse(const verbs::Verb& verb, const std::string& key) {
  for (const auto& [known, way] : kOtherWays) {
    if (known == key) throw Error(fmt::format("[{}] option \"{}\": {}", verb.name, key, way));
  }
  throw Error(fmt::format("[{}] unknown option \"{}\"", verb.name, key));
}

const verbs::Option& find_option(const verbs::Verb& verb, const verbs::Options& options,
                                 const std::string& key) {
  for (const verbs::Option& option : options.all()) {
    if (option.key() != key) continue;
    if (option.takes_traces()) {
      throw Error(fmt::format("[{}] option \"{}\": pass it as a trace", verb.name, key));
    }
    return option;
  }
  refuse(verb, key);
}

// Writes the values of an option to its target.
struct SetTarget {
  const GivenOption& given;

  void operator()(bool* target) const {
    if (given.value() != "true") throw expected("true or false");
    *target = true;
  }
  void operator()(std::string* target) const { *target = given.value(); }
  void operator()(std::optional<std::string>* target) const { *target = given.value(); }
  void operator()(std::optional<int64_t>* target) const {
    *target = parse_integer(given.value());
    if (!*target) throw expected("a number");
  }
  void operator()(std::vector<std::string>* target) const {
    target->insert(target->end(), given.values.begin(), given.values.end());
  }
  template <typename T>
  void operator()(T* /*traces*/) const {
    throw BugError("a trace as an option");
  }

 private:
  Error expected(const char* what) const {
    return Error(fmt::format("option \"{}\": expected {}, not {}", given.key, what, given.value()));
  }
};

void set_option(const verbs::Option& option, const GivenOption& given) {
  std::visit(SetTarget{given}, option.target());
  const auto is_empty = [](const std::string& value) { return value.empty(); };
  if (!option.empty_message().empty() &&
      std::any_of(given.values.begin(), given.values.end(), is_empty)) {
    throw Error(fmt::format("option \"{}\": {}", given.key, option.empty_message()));
  }
}

// The options that take traces, in order.
std::vector<const verbs::Option*> trace_options(const verbs::Options& options) {
  std::vector<const verbs::Option*> found;
  for (const verbs::Option& option : options.all()) {
    if (option.takes_traces()) found.push_back(&option);
  }
  return found;
}

std::string traces_text(size_t count) {
  return count == 1 ? "a trace" : count == 2 ? "two traces" : fmt::format("{} traces", count);
}

// The format's name, in messages.
const char* format_name(verbs::Format format) {
  return format == verbs::Format::kJson       ? "json"
         : format == verbs::Format::kMarkdown ? "md"
         : format == verbs::Format::kCsv      ? "csv"
                                              : "text";
}

verbs::Format format_of(epi_format format) {
  switch (format) {
    case EPI_TEXT:
      return verbs::Format::kText;
    case EPI_JSON:
      return verbs::Format::kJson;
    case EPI_MARKDOWN:
      return verbs::Format::kMarkdown;
    case EPI_CSV:
      return verbs::Format::kCsv;
  }
  throw Error("unknown format");
}

}  // namespace

const std::string& GivenOption::value() const {
  if (values.size() != 1) throw Error(fmt::format("option \"{}\": expected one value", key));
  return values.front();
}

std::vector<GivenOption> parse_options(const char* text) {
  std::vector<GivenOption> options;
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
    if (!values.empty()) options.push_back({name, std::move(values)});
  }
  return options;
}

int64_t positive_number(const GivenOption& option) {
  const auto number = parse_integer(option.value());
  if (number && *number >= 1) return *number;
  throw Error(
      fmt::format("option \"{}\": expected a positive number, not {}", option.key, option.value()));
}

int schema_of(const GivenOption& option) {
  if (const auto schema = verbs::parse_schema(option.value())) return *schema;
  throw Error(fmt::format("option \"{}\": expected 1 or 2, not {}", option.key, option.value()));
}

verbs::CallOptions call_options(const verbs::Verb& verb, const std::vector<GivenOption>& given,
                                epi_format format) {
  verbs::CallOptions call;
  call.format = format_of(format);
  if (!verb.formats.has(call.format)) {
    throw Error(
        fmt::format("[{}] the format {} is not available", verb.name, format_name(call.format)));
  }
  for (const GivenOption& option : given) {
    switch (common_option(option.key)) {
      case Common::kWidth:
        call.width = static_cast<size_t>(positive_number(option));
        break;
      case Common::kJson:
        call.schema = schema_of(option);
        break;
      case Common::kNamesFile:
        call.reading.names_file = option.value();
        break;
      case Common::kNone:
        break;
    }
  }
  return call;
}

void set_options(const verbs::Verb& verb, const verbs::Options& options,
                 const std::vector<GivenOption>& given) {
  std::vector<const verbs::Option*> set;
  for (const GivenOption& one : given) {
    if (common_option(one.key) != Common::kNone) continue;
    const verbs::Option& option = find_option(verb, options, one.key);
    set_option(option, one);
    set.push_back(&option);
  }
  for (const verbs::Option* option : set) {
    for (const verbs::Option* other : option->excluded()) {
      if (std::find(set.begin(), set.end(), other) == set.end()) continue;
      throw Error(fmt::format("[{}] option \"{}\" cannot be combined with \"{}\"", verb.name,
                              option->key(), other->key()));
    }
  }
}

void set_traces(const verbs::Verb& verb, const verbs::Options& options,
                const std::vector<std::shared_ptr<const verbs::OpenTraces>>& traces) {
  const auto targets = trace_options(options);
  size_t next = 0;
  size_t required = 0;
  for (const verbs::Option* option : targets) {
    required += option->is_required() ? 1 : 0;
    const auto source = [&] { return verbs::TraceSource{"", traces[next++]}; };
    if (next == traces.size()) continue;
    if (auto* const* one = std::get_if<verbs::TraceSource*>(&option->target())) {
      **one = source();
    } else if (auto* const* any =
                   std::get_if<std::optional<verbs::TraceSource>*>(&option->target())) {
      **any = source();
    } else {
      auto& list = *std::get<std::vector<verbs::TraceSource>*>(option->target());
      list.push_back(source());
      while (option == targets.back() && next < traces.size()) list.push_back(source());
    }
  }
  if (traces.size() < required) {
    throw Error(
        fmt::format("[{}] expected {}, got {}", verb.name, traces_text(required), traces.size()));
  }
  if (next < traces.size()) {
    throw Error(fmt::format("[{}] expected at most {}, got {}", verb.name,
                            traces_text(targets.size()), traces.size()));
  }
}

}  // namespace epi::c
