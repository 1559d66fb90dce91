// SPDX-License-Identifier: Apache-2.0
// The traces that a verb was given: files, or folders of ranks.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/report/kernel_names.h"
#include "epilogue/trace/trace.h"

namespace epi::cli {

struct TraceInput {
  std::string file;
  int64_t rank = 0;  // 0 where the file does not say
  bool has_rank = false;
  trace::Trace trace;
};

// How traces are read.
struct ReadingFlags {
  std::string step_pattern;  // what marks a step instead of the profilers' own marks
  std::string names_file;    // what kernels are that no grammar reads
};

// Flags that every verb over traces has.
struct TraceFlags : ReadingFlags {
  std::vector<std::string> files;
  bool json = false;
  bool markdown = false;
};

// Adds --step-pattern REGEX and --names-file FILE.
void add_reading_flags(Command& verb, ReadingFlags& flags);
// Reads the file, if one was given; throws `Error` with the line that is wrong.
void use_names_file(const std::string& file);
// Adds FILE..., --json, those for reading and, where the verb can, --md.
void add_trace_flags(Command& verb, TraceFlags& flags, bool with_markdown = true);

// Adds --names raw|decoded|both: how kernels are named.
void add_names(Command& verb, std::string& names);
// None where the flag was not given; throws `Error` for another word.
std::optional<report::NameStyle> parse_name_style(const char* verb, const std::string& names);

// Reads all of them, several at a time. Throws `Error` for the first that cannot be read.
std::vector<TraceInput> read_inputs(const std::vector<std::string>& files,
                                    const ReadingFlags& flags = {});
// Called last: what was wrong with the files, each kind once, on standard error; and, where several
// files are ranks, those that do not say which.
void show_notices(const std::vector<TraceInput>& inputs, bool are_ranks = true);

// What a verb over traces does: reads them, prints one JSON value or the text of each, then what
// was wrong with the files. `json(writer, input)` fills an open object; `text(input)` returns text.
template <typename Json, typename Text>
int print_each(const TraceFlags& flags, const Json& json, const Text& text);

// Calls `one` for each input inside of the object that the verb prints: the object itself for one
// input, a member of "files" for several.
template <typename One>
void print_json(const std::vector<TraceInput>& inputs, One&& one);

void begin_json(JsonWriter& json, const std::vector<TraceInput>& inputs);
void end_json(JsonWriter& json, const std::vector<TraceInput>& inputs);
void begin_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs,
                      const TraceInput& input);
void end_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs);

template <typename One>
void print_json(const std::vector<TraceInput>& inputs, One&& one) {
  JsonWriter json;
  begin_json(json, inputs);
  for (const TraceInput& input : inputs) {
    begin_input_json(json, inputs, input);
    one(json, input);
    end_input_json(json, inputs);
  }
  end_json(json, inputs);
}

// A line above each input's output where there are several.
void print_title(const std::vector<TraceInput>& inputs, const TraceInput& input);

template <typename Json, typename Text>
int print_each(const TraceFlags& flags, const std::vector<TraceInput>& inputs, const Json& json,
               const Text& text) {
  if (flags.json) {
    print_json(inputs, json);
  } else {
    for (const TraceInput& input : inputs) {
      print_title(inputs, input);
      fmt::print("{}", text(input));
    }
  }
  show_notices(inputs);
  return kDone;
}

// Whether these are the ranks of one run: every file says another rank, or one folder was given.
bool are_ranks_of_one_run(const std::vector<std::string>& given,
                          const std::vector<TraceInput>& inputs);

template <typename Json, typename Text>
int print_each(const TraceFlags& flags, const Json& json, const Text& text) {
  return print_each(flags, read_inputs(flags.files, flags), json, text);
}

// The columns of the terminal; 80 where there is none and COLUMNS does not say.
size_t screen_width();

}  // namespace epi::cli
