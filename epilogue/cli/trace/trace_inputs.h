// SPDX-License-Identifier: Apache-2.0
// What trace verbs share: their flags, and how they print the results of several traces.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/session.h"
#include "epilogue/report/kernel_names.h"

namespace epi::cli {

// Flags of every trace verb.
struct TraceFlags : ReadingFlags {
  std::vector<std::string> files;
  bool json = false;
  bool markdown = false;
};

// Adds --max-unpacked BYTES.
void add_max_unpacked(Command& verb, ReadingFlags& flags);
// Adds --step-pattern REGEX, --names-file FILE and --max-unpacked BYTES.
void add_reading_flags(Command& verb, ReadingFlags& flags);
// Adds FILE..., --json, the reading flags and, optionally, --md.
void add_trace_flags(Command& verb, TraceFlags& flags, bool with_markdown = true);

// Adds --names raw|decoded|both: how kernel names are shown.
void add_names(Command& verb, std::string& names);
// None if the flag is not given. Throws `Error` for any other value.
std::optional<report::NameStyle> parse_name_style(const char* verb, const std::string& names);

// The files of the inputs, after folders were replaced by their ranks.
std::vector<std::string> files_of(const std::vector<TraceInput>& inputs);
// Notes the defects of the files, each kind once, and which of several ranks have no rank in the
// file. Called last: throws if a file has changed since it was read.
void show_notices(Session& session, const std::vector<TraceInput>& inputs, bool are_ranks = true);

// The body of a trace verb: reads the traces, prints one JSON value or the text of each, then the
// defects of the files. `json(writer, input)` fills an open object, `text(input)` returns text.
template <typename Json, typename Text>
int print_each(Session& session, const TraceFlags& flags, const Json& json, const Text& text);

// Calls `write` for each input, inside the object that the verb prints: the object itself for one
// input, an element of "files" for several.
template <typename Write>
void print_json(Session& session, const std::vector<TraceInput>& inputs, Write&& write);

void begin_json(JsonWriter& json, const std::vector<TraceInput>& inputs);
void end_json(Session& session, JsonWriter& json, const std::vector<TraceInput>& inputs);
void begin_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs,
                      const TraceInput& input);
void end_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs);

template <typename Write>
void print_json(Session& session, const std::vector<TraceInput>& inputs, Write&& write) {
  JsonWriter json;
  begin_json(json, inputs);
  for (const TraceInput& input : inputs) {
    begin_input_json(json, inputs, input);
    write(json, input);
    end_input_json(json, inputs);
  }
  end_json(session, json, inputs);
}

// Prints a line above the output of each input if there are several.
void print_title(Session& session, const std::vector<TraceInput>& inputs, const TraceInput& input);

template <typename Json, typename Text>
int print_each(Session& session, const TraceFlags& flags, const std::vector<TraceInput>& inputs,
               const Json& json, const Text& text) {
  if (flags.json) {
    print_json(session, inputs, json);
  } else {
    for (const TraceInput& input : inputs) {
      print_title(session, inputs, input);
      session.print("{}", text(input));
    }
  }
  show_notices(session, inputs);
  return kDone;
}

// True if the inputs are the ranks of one run: every file has a different rank, or one folder is
// given.
bool are_ranks_of_one_run(const Session& session, const std::vector<std::string>& given,
                          const std::vector<TraceInput>& inputs);

template <typename Json, typename Text>
int print_each(Session& session, const TraceFlags& flags, const Json& json, const Text& text) {
  return print_each(session, flags, session.read(flags.files, flags), json, text);
}

}  // namespace epi::cli
