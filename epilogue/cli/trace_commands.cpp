// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace_commands.h"

#include <fmt/format.h>

#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/cli/terminal_call.h"
#include "epilogue/verbs/verbs.h"

namespace epi::cli {
namespace {

// What every verb can be asked for.
struct CommonOptions {
  std::string json;  // the schema; empty for another format
  bool markdown = false;
  bool csv = false;
  verbs::ReadingOptions reading;
};

const std::string kCurrentSchema = fmt::format("{}", report::kSchema);

void add_common(Command& command, const verbs::Formats& formats, CommonOptions& options) {
  verbs::Option* json = nullptr;
  if (formats.json) {
    json = &command
                .add("--json", options.json,
                     "JSON on standard output; --json=1: with the names of schema 1")
                .optional_value(kCurrentSchema);
  }
  verbs::Option* csv = nullptr;
  if (formats.csv) {
    csv = &command.add("--csv", options.csv, "Comma-separated values").excludes(*json);
  }
  if (formats.markdown) {
    verbs::Option& markdown = command.add("--md", options.markdown, "Tables as Markdown");
    markdown.excludes(*json);
    if (csv != nullptr) markdown.excludes(*csv);
  }
  add_reading_options(command, options.reading);
}

verbs::CallOptions call_options(const verbs::Verb& verb, const CommonOptions& options) {
  verbs::CallOptions call;
  call.format = !options.json.empty() ? verbs::Format::kJson
                : options.csv         ? verbs::Format::kCsv
                : options.markdown    ? verbs::Format::kMarkdown
                                      : verbs::Format::kText;
  if (!options.json.empty()) {
    const auto schema = verbs::parse_schema(options.json);
    if (!schema) fail(verb.name, "--json={}: the schemas are 1 and 2", options.json);
    call.schema = *schema;
  }
  call.width = terminal_width();
  call.reading = options.reading;
  return call;
}

}  // namespace

void add_max_unpacked(Command& command, verbs::ReadingOptions& options) {
  command
      .add("--max-unpacked", options.max_unpacked,
           "Largest size of a decompressed trace, such as 500M or 2G; default: half of the memory")
      .value_name("BYTES");
}

void add_reading_options(Command& command, verbs::ReadingOptions& options) {
  command
      .add("--step-pattern", options.step_pattern,
           "Annotations and operators that match this regular expression are steps")
      .value_name("REGEX");
  command
      .add("--names-file", options.names_file,
           "File that maps more kernel names to a library and kind")
      .value_name("FILE")
      .not_empty("a file is needed");
  add_max_unpacked(command, options);
}

void add_trace_commands(Command& program, bool can_run) {
  for (const verbs::Verb* verb : verbs::trace_verbs()) {
    Command& command = program.subcommand(verb->name, verb->help);
    const auto common = std::make_shared<CommonOptions>();
    const verbs::Run run = verb->add(command);
    add_common(command, verb->formats, *common);
    command.run([verb, run, common, can_run] {
      TerminalCall call(call_options(*verb, *common), can_run);
      return run(call);
    });
  }
}

}  // namespace epi::cli
