// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace/trace_inputs.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "epilogue/analysis/index/pattern.h"
#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/analysis/names/name_rules.h"
#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/progress.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/reader.h"

namespace epi::cli {
namespace {

bool is_trace_name(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst");
}

// A file to read. A file in a folder that is not a trace is skipped with a note.
struct InputFile {
  std::string path;
  bool in_folder = false;
};

// Replaces each folder by the traces in it, sorted by name.
std::vector<InputFile> expand(const std::vector<std::string>& given) {
  std::vector<InputFile> files;
  for (const std::string& path : given) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      files.push_back({path});
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
      if (is_trace_name(entry.path().string())) inside.push_back(entry.path().string());
    }
    if (failed) throw Error(fmt::format("{}: {}", path, failed.message()));
    if (inside.empty()) {
      throw Error(
          fmt::format("{}: the folder contains no traces (.json, .json.gz, .json.zst)", path));
    }
    std::sort(inside.begin(), inside.end());
    for (const std::string& file : inside) files.push_back({file, true});
  }
  return files;
}

// "500M": a number of bytes, with K, M or G for powers of 1024. None if the text is empty.
std::optional<int64_t> parse_max_unpacked(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kUnits = "KMG";
  std::string_view digits = text;
  int64_t unit = 1;
  if (const size_t place = kUnits.find(text.back()); place != std::string_view::npos) {
    unit = int64_t{1} << (10 * (place + 1));
    digits.remove_suffix(1);
  }
  const auto number = parse_integer(digits);
  if (!number || *number < 1 || *number > INT64_MAX / 4 / unit) {
    throw Error(
        fmt::format("--max-unpacked {}: expected a number of bytes such as 500M or 2G", text));
  }
  return *number * unit;
}

std::optional<int64_t> rank_of(const trace::Trace& trace) {
  const auto rank = trace::find_value(trace.property("distributedInfo"), "rank");
  return rank ? trace::parse_integer_token(*rank) : std::nullopt;
}

}  // namespace

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

void use_names_file(const std::string& file) {
  if (file.empty()) return;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) {
    throw Error(fmt::format("--names-file {}: no such file", file));
  }
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (stream.bad()) throw Error(fmt::format("--names-file {}: cannot read the file", file));
  auto rules = analysis::parse_name_rules(text.str(), file);
  throw_if_failed(rules);
  analysis::set_user_names(std::move(*rules));
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

std::vector<TraceInput> read_inputs(const std::vector<std::string>& given,
                                    const ReadingFlags& flags) {
  use_names_file(flags.names_file);
  const std::string& step_pattern = flags.step_pattern;
  if (!step_pattern.empty()) {
    const auto pattern = analysis::Pattern::regex(step_pattern);
    if (!pattern) {
      throw Error(fmt::format("--step-pattern {}: {}", step_pattern, pattern.error().message));
    }
  }
  const auto max_unpacked = parse_max_unpacked(flags.max_unpacked);
  const auto files = expand(given);
  const WaitingLine waiting(files.size() == 1 ? files.front().path
                                              : fmt::format("{} traces", files.size()));
  std::vector<TraceInput> inputs(files.size());
  std::vector<std::string> failures(files.size());
  const auto read_one = [&](size_t i) {
    auto trace = trace::read(files[i].path, max_unpacked);
    if (!trace) {
      failures[i] = trace.error().message;
      return;
    }
    trace->step_pattern = step_pattern;
    const auto rank = rank_of(*trace);
    inputs[i] = {files[i].path, rank.value_or(0), rank.has_value(), std::move(*trace)};
  };
  if (files.size() == 1) {
    read_one(0);  // on all cores
  } else {
    parallel_for(static_cast<int64_t>(files.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) read_one(static_cast<size_t>(i));
    });
  }
  const auto failed = std::count_if(failures.begin(), failures.end(),
                                    [](const std::string& failure) { return !failure.empty(); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (failures[i].empty()) continue;
    // A folder in which no file is a trace is an error.
    if (!files[i].in_folder || failed == std::ssize(files)) throw Error(failures[i]);
    print_error("{}: note: skipped\n", failures[i]);
  }
  std::erase_if(inputs, [](const TraceInput& input) { return input.file.empty(); });
  for (const TraceInput& input : inputs) {
    if (step_pattern.empty() || !analysis::step_marks(input.trace).events.empty()) continue;
    throw Error(fmt::format("{}: --step-pattern {}: no annotation and no operator matches",
                            input.file, step_pattern));
  }
  return inputs;
}

std::vector<std::string> files_of(const std::vector<TraceInput>& inputs) {
  std::vector<std::string> files;
  for (const TraceInput& input : inputs) files.push_back(input.file);
  return files;
}

void show_notices(const std::vector<TraceInput>& inputs, bool are_ranks) {
  refuse_changed_inputs();
  std::fflush(stdout);
  const bool any_rank = std::any_of(inputs.begin(), inputs.end(),
                                    [](const TraceInput& input) { return input.has_rank; });
  for (const TraceInput& input : inputs) {
    const bool ranked = any_rank || !input.trace.property("distributedInfo").empty();
    if (are_ranks && ranked && !input.has_rank) {
      print_error("{}: note: no rank in the file, assuming 0\n", input.file);
    }
    for (const std::string& line : input.trace.defects.lines()) {
      print_error("{}: note: {}\n", input.file, line);
    }
  }
}

void begin_json(JsonWriter& json, const std::vector<TraceInput>& inputs) {
  json.begin_object().key("schema").integer(1);
  if (inputs.size() > 1) json.key("files").begin_array();
}

void end_json(JsonWriter& json, const std::vector<TraceInput>& inputs) {
  if (inputs.size() > 1) json.end_array();
  json.end_object();
  print_out("{}\n", json.text());
}

void begin_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs,
                      const TraceInput& input) {
  if (inputs.size() > 1) json.begin_object();
  json.key("file").string(input.file).key("rank").integer(input.rank);
}

void end_input_json(JsonWriter& json, const std::vector<TraceInput>& inputs) {
  if (inputs.size() > 1) json.end_object();
}

void print_title(const std::vector<TraceInput>& inputs, const TraceInput& input) {
  if (inputs.size() < 2) return;
  const bool first = &input == &inputs.front();
  print_out("{}{}{}\n", first ? "" : "\n",
            input.has_rank ? fmt::format("rank {}: ", input.rank) : "",
            visible_text(input.file, LineBreaks::kReplace));
}

bool are_ranks_of_one_run(const std::vector<std::string>& given,
                          const std::vector<TraceInput>& inputs) {
  if (inputs.size() < 2) return false;
  std::error_code failed;
  if (given.size() == 1 && std::filesystem::is_directory(given[0], failed)) return true;
  std::set<int64_t> ranks;
  for (const TraceInput& input : inputs) {
    if (!input.has_rank || !ranks.insert(input.rank).second) return false;
  }
  return true;
}

size_t screen_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int64_t given = columns == nullptr ? 0 : parse_integer(columns).value_or(0);
  return given > 0 ? static_cast<size_t>(given) : 80;
}

}  // namespace epi::cli
