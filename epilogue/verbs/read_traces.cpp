// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/read_traces.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "epilogue/analysis/index/pattern.h"
#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/folder_names.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/reader.h"

namespace epi::verbs {
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
    for (const std::string& name : folder_names(path, failed)) {
      if (is_trace_name(name)) inside.push_back((std::filesystem::path(path) / name).string());
    }
    if (failed) throw Error(fmt::format("{}: {}", path, failed.message()));
    if (inside.empty()) {
      throw Error(
          fmt::format("{}: the folder contains no traces (.json, .json.gz, .json.zst)", path));
    }
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

void check_step_pattern(const ReadingOptions& options) {
  if (options.step_pattern.empty()) return;
  const auto pattern = analysis::Pattern::regex(options.step_pattern);
  if (pattern) return;
  throw Error(fmt::format("--step-pattern {}: {}", options.step_pattern, pattern.error().message));
}

// The options as the reader needs them.
struct Reading {
  explicit Reading(const ReadingOptions& options)
      : step_pattern(options.step_pattern),
        max_unpacked(parse_max_unpacked(options.max_unpacked)),
        names(read_name_rules(options.names_file)) {
    check_step_pattern(options);
  }

  TraceInput input_of(const std::string& name, trace::Trace&& trace) const {
    trace.step_pattern = step_pattern;
    const auto rank = rank_of(trace);
    auto shared = std::make_shared<const trace::Trace>(std::move(trace));
    return {name, rank.value_or(0), rank.has_value(),
            std::make_shared<const LoadedTrace>(std::move(shared), names)};
  }

  std::string step_pattern;
  std::optional<int64_t> max_unpacked;
  std::shared_ptr<const analysis::NameRules> names;
};

// What is wrong if the user's pattern matches nothing. Empty if it matches.
std::string step_problem(const TraceInput& input) {
  const std::string& pattern = input.trace().step_pattern;
  if (pattern.empty() || !analysis::step_marks(input.trace()).events.empty()) return "";
  return fmt::format("{}: --step-pattern {}: no annotation and no operator matches", input.file,
                     pattern);
}

void check_steps(const TraceInput& input) {
  if (const std::string problem = step_problem(input); !problem.empty()) throw Error(problem);
}

// Gives freed memory back to the system. Otherwise it grows with the number of traces, because the
// parts of each fit badly into the gaps that the preceding ones leave.
void return_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

ReadTraces read_traces(const std::vector<std::string>& given, const ReadingOptions& options,
                       trace::ReadProgress* progress) {
  const Reading reading(options);
  const auto files = expand(given);
  std::vector<TraceInput> inputs(files.size());
  std::vector<std::string> failures(files.size());
  const auto read_one = [&](size_t i) {
    auto trace = trace::read(files[i].path, reading.max_unpacked, progress);
    if (!trace) {
      failures[i] = trace.error().message;
      return;
    }
    inputs[i] = reading.input_of(files[i].path, std::move(*trace));
  };
  if (files.size() == 1) {
    read_one(0);  // on all cores
  } else {
    parallel_for(static_cast<int64_t>(files.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) read_one(static_cast<size_t>(i));
    });
  }
  ReadTraces result;
  const auto failed = std::count_if(failures.begin(), failures.end(),
                                    [](const std::string& failure) { return !failure.empty(); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (failures[i].empty()) continue;
    // A folder in which no file is a trace is an error.
    if (!files[i].in_folder || failed == std::ssize(files)) throw Error(failures[i]);
    result.notes.push_back(fmt::format("{}: note: skipped", failures[i]));
  }
  std::erase_if(inputs, [](const TraceInput& input) { return input.file.empty(); });
  for (const TraceInput& input : inputs) check_steps(input);
  result.inputs = std::move(inputs);
  return result;
}

void read_each_trace(const std::vector<std::string>& given, const ReadingOptions& options,
                     const Call::UseTrace& use, const Call::UseFailure& failed) {
  const Reading reading(options);
  for (const InputFile& file : expand(given)) {
    auto trace = trace::read(file.path, reading.max_unpacked);
    if (!trace) {
      failed(file.path, trace.error().message);
      continue;
    }
    {
      const TraceInput input = reading.input_of(file.path, std::move(*trace));
      const std::string problem = step_problem(input);
      if (problem.empty()) {
        use(input);
      } else {
        failed(file.path, problem);
      }
    }
    return_memory();
  }
}

TraceInput read_trace_bytes(std::string bytes, const std::string& name,
                            const ReadingOptions& options, trace::ReadProgress* progress) {
  const Reading reading(options);
  auto trace = trace::read_bytes(std::move(bytes), name, reading.max_unpacked, progress);
  if (!trace) throw Error(trace.error().message);
  TraceInput input = reading.input_of(name, std::move(*trace));
  check_steps(input);
  return input;
}

std::shared_ptr<const analysis::NameRules> read_name_rules(const std::string& file) {
  if (file.empty()) return nullptr;
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
  return std::make_shared<const analysis::NameRules>(std::move(*rules));
}

}  // namespace epi::verbs
