// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace/trace_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/base/visible_text.h"

namespace epi::cli {

void add_max_unpacked(Command& verb, ReadingFlags& flags) {
  verb.option(
          "--max-unpacked", flags.max_unpacked,
          "Largest size of a decompressed trace, such as 500M or 2G; default: half of the memory")
      .value_name("BYTES");
}

void add_reading_flags(Command& verb, ReadingFlags& flags) {
  verb.option("--step-pattern", flags.step_pattern,
              "Annotations and operators that match this regular expression are steps")
      .value_name("REGEX");
  verb.option("--names-file", flags.names_file,
              "File that maps more kernel names to a library and kind")
      .value_name("FILE")
      .not_empty("a file is needed");
  add_max_unpacked(verb, flags);
}

void add_names(Command& verb, std::string& names) {
  verb.option("--names", names, "How kernel names are shown").value_name("raw|decoded|both");
}

std::optional<report::NameStyle> parse_name_style(const char* verb, const std::string& names) {
  if (names.empty()) return std::nullopt;
  if (names == "raw") return report::NameStyle::kRaw;
  if (names == "decoded") return report::NameStyle::kDecoded;
  if (names == "both") return report::NameStyle::kBoth;
  fail(verb, "--names {}: must be raw, decoded or both", names);
}

void add_trace_flags(Command& verb, TraceFlags& flags, bool with_markdown) {
  verb.option("FILE", flags.files, "A trace, or a folder of ranks").required();
  const Option json = verb.flag("--json", flags.json, "One JSON value on standard output");
  if (with_markdown) {
    verb.flag("--md", flags.markdown, "Tables as Markdown").excludes(json);
  }
  add_reading_flags(verb, flags);
}

std::vector<std::string> files_of(const std::vector<TraceInput>& inputs) {
  std::vector<std::string> files;
  for (const TraceInput& input : inputs) files.push_back(input.file);
  return files;
}

void show_notices(Session& session, const std::vector<TraceInput>& inputs, bool are_ranks) {
  session.refuse_changed_inputs();
  const bool any_rank = std::any_of(inputs.begin(), inputs.end(),
                                    [](const TraceInput& input) { return input.has_rank; });
  for (const TraceInput& input : inputs) {
    const bool ranked = any_rank || !input.trace().property("distributedInfo").empty();
    if (are_ranks && ranked && !input.has_rank) {
      session.note("{}: note: no rank in the file, assuming 0", input.file);
    }
    for (const std::string& line : input.trace().defects.lines()) {
      session.note("{}: note: {}", input.file, line);
    }
  }
}

void begin_json(JsonWriter& json, const std::vector<TraceInput>& inputs) {
  json.begin_object().key("schema").integer(1);
  if (inputs.size() > 1) json.key("files").begin_array();
}

void end_json(Session& session, JsonWriter& json, const std::vector<TraceInput>& inputs) {
  if (inputs.size() > 1) json.end_array();
  json.end_object();
  session.print("{}\n", json.text());
}

void begin_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs,
                      const TraceInput& input) {
  if (inputs.size() > 1) json.begin_object();
  json.key("file").string(input.file).key("rank").integer(input.rank);
}

void end_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs) {
  if (inputs.size() > 1) json.end_object();
}

void print_title(Session& session, const std::vector<TraceInput>& inputs, const TraceInput& input) {
  if (inputs.size() < 2) return;
  const bool first = &input == &inputs.front();
  session.print("{}{}{}\n", first ? "" : "\n",
                input.has_rank ? fmt::format("rank {}: ", input.rank) : "",
                visible_text(input.file, LineBreaks::kReplace));
}

bool are_ranks_of_one_run(const Session& session, const std::vector<std::string>& given,
                          const std::vector<TraceInput>& inputs) {
  if (inputs.size() < 2) return false;
  if (given.size() == 1 && session.is_folder(given[0])) return true;
  std::set<int64_t> ranks;
  for (const TraceInput& input : inputs) {
    if (!input.has_rank || !ranks.insert(input.rank).second) return false;
  }
  return true;
}

}  // namespace epi::cli
