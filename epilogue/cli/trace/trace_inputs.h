// SPDX-License-Identifier: Apache-2.0
// The traces on the command line of a verb: files, or folders of ranks. Reads them and prints the
// results.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/report/kernel_names.h"
#include "epilogue/trace/trace.h"

namespace epi::cli {

struct TraceInput {
  std::string file;
  int64_t rank = 0;  // 0 if the file has no rank
  bool has_rank = false;
  trace::Trace trace;
};

// How traces are read.
struct ReadingFlags {
  std::string step_pattern;  // regular expression for steps, instead of the profilers' own marks
  std::string names_file;    // rules for kernel names that the decoder does not know
  std::string max_unpacked;  // limit for decompressed traces: "500M"
};

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
// Reads the file, if there is one. Throws `Error` with the line of a mistake.
void use_names_file(const std::string& file);
// Adds FILE..., --json, the reading flags and, optionally, --md.
void add_trace_flags(Command& verb, TraceFlags& flags, bool with_markdown = true);

// Adds --names raw|decoded|both: how kernel names are shown.
void add_names(Command& verb, std::string& names);
// None if the flag is not given. Throws `Error` for any other value.
std::optional<report::NameStyle> parse_name_style(const char* verb, const std::string& names);

// Reads all files, several in parallel. Throws `Error` for the first that cannot be read.
std::vector<TraceInput> read_inputs(const std::vector<std::string>& files,
                                    const ReadingFlags& flags = {});
// The files of the inputs, after folders were replaced by their ranks.
std::vector<std::string> files_of(const std::vector<TraceInput>& inputs);
// Prints the defects of the files to standard error, each kind once, and which of several ranks
// have no rank in the file. Called last: throws if a file has changed since it was read.
void show_notices(const std::vector<TraceInput>& inputs, bool are_ranks = true);

// The body of a trace verb: reads the traces, prints one JSON value or the text of each, then the
// defects of the files. `json(writer, input)` fills an open object, `text(input)` returns text.
template <typename Json, typename Text>
int print_each(const TraceFlags& flags, const Json& json, const Text& text);

// Calls `write` for each input, inside the object that the verb prints: the object itself for one
// input, an element of "files" for several.
template <typename Write>
void print_json(const std::vector<TraceInput>& inputs, Write&& write);

void begin_json(JsonWriter& json, const std::vector<TraceInput>& inputs);
void end_json(JsonWriter& json, const std::vector<TraceInput>& inputs);
void begin_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs,
                      const TraceInput& input);
void end_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs);

template <typename Write>
void print_json(const std::vector<TraceInput>& inputs, Write&& write) {
  JsonWriter json;
  begin_json(json, inputs);
  for (const TraceInput& input : inputs) {
    begin_input_json(json, inputs, input);
    write(json, input);
    end_input_json(json, inputs);
  }
  end_json(json, inputs);
}

// Prints a line above the output of each input if there are several.
void print_title(const std::vector<TraceInput>& inputs, const TraceInput& input);

template <typename Json, typename Text>
int print_each(const TraceFlags& flags, const std::vector<TraceInput>& inputs, const Json& json,
               const Text& text) {
  if (flags.json) {
    print_json(inputs, json);
  } else {
    for (const TraceInput& input : inputs) {
      print_title(inputs, input);
      print_out("{}", text(input));
    }
  }
  show_notices(inputs);
  return kDone;
}

// True if the inputs are the ranks of one run: every file has a different rank, or one folder is
// given.
bool are_ranks_of_one_run(const std::vector<std::string>& given,
                          const std::vector<TraceInput>& inputs);

template <typename Json, typename Text>
int print_each(const TraceFlags& flags, const Json& json, const Text& text) {
  return print_each(flags, read_inputs(flags.files, flags), json, text);
}

// The width of the terminal, or COLUMNS, or 80.
size_t screen_width();

}  // namespace epi::cli
