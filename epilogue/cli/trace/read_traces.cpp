// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace/read_traces.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <filesystem>
#include <optional>

#include "epilogue/analysis/index/pattern.h"
#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/base/error.h"
#include "epilogue/base/folder_names.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/base/thread_pool.h"
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

TraceInput input_of(const std::string& name, trace::Trace&& trace, const ReadingFlags& flags) {
  trace.step_pattern = flags.step_pattern;
  const auto rank = rank_of(trace);
  return {name, rank.value_or(0), rank.has_value(),
          std::make_shared<const LoadedTrace>(std::move(trace))};
}

void check_step_pattern(const ReadingFlags& flags) {
  if (flags.step_pattern.empty()) return;
  const auto pattern = analysis::Pattern::regex(flags.step_pattern);
  if (pattern) return;
  throw Error(fmt::format("--step-pattern {}: {}", flags.step_pattern, pattern.error().message));
}

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

ReadTraces read_traces(const std::vector<std::string>& given, const ReadingFlags& flags,
                       trace::ReadProgress* progress) {
  check_step_pattern(flags);
  const auto max_unpacked = parse_max_unpacked(flags.max_unpacked);
  const auto files = expand(given);
  std::vector<TraceInput> inputs(files.size());
  std::vector<std::string> failures(files.size());
  const auto read_one = [&](size_t i) {
    auto trace = trace::read(files[i].path, max_unpacked, progress);
    if (!trace) {
      failures[i] = trace.error().message;
      return;
    }
    inputs[i] = input_of(files[i].path, std::move(*trace), flags);
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

void read_each_trace(const std::vector<std::string>& given, const ReadingFlags& flags,
                     const Session::UseTrace& use, const Session::UseFailure& failed) {
  check_step_pattern(flags);
  const auto max_unpacked = parse_max_unpacked(flags.max_unpacked);
  for (const InputFile& file : expand(given)) {
    auto trace = trace::read(file.path, max_unpacked);
    if (!trace) {
      failed(file.path, trace.error().message);
      continue;
    }
    {
      const TraceInput input = input_of(file.path, std::move(*trace), flags);
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

TraceInput read_trace_bytes(std::string bytes, const std::string& name, const ReadingFlags& flags,
                            trace::ReadProgress* progress) {
  check_step_pattern(flags);
  auto trace =
      trace::read_bytes(std::move(bytes), name, parse_max_unpacked(flags.max_unpacked), progress);
  if (!trace) throw Error(trace.error().message);
  TraceInput input = input_of(name, std::move(*trace), flags);
  check_steps(input);
  return input;
}

}  // namespace epi::cli
