// SPDX-License-Identifier: Apache-2.0
#include "epilogue/c/open_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/c/call_options.h"
#include "epilogue/c/guard.h"
#include "epilogue/trace/writer.h"
#include "epilogue/verbs/read_traces.h"

namespace epi::c {
namespace {

verbs::ReadingOptions reading_options(const char* text) {
  verbs::ReadingOptions options;
  const std::pair<const char*, std::string*> known[] = {{"step_pattern", &options.step_pattern},
                                                        {"max_unpacked", &options.max_unpacked},
                                                        {"names_file", &options.names_file}};
  for (const GivenOption& given : parse_options(text)) {
    const auto found = std::find_if(std::begin(known), std::end(known),
                                    [&](const auto& one) { return one.first == given.key; });
    if (found == std::end(known)) {
      throw Error(fmt::format(
          "unknown option \"{}\": expected step_pattern, max_unpacked or names_file", given.key));
    }
    *found->second = given.value();
  }
  return options;
}

// The defects of a file, as the command notes them.
std::vector<std::string> notes_on(const verbs::TraceInput& input) {
  return input.trace().defects.lines();
}

std::vector<std::string> paths_of(const char* const* paths, size_t count) {
  if (paths == nullptr || count == 0) throw Error("no trace given: expected a path");
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) {
    if (paths[i] == nullptr) throw Error(fmt::format("path {} is null", i));
    out.emplace_back(paths[i]);
  }
  return out;
}

// Reads with `read(progress)`, and reports the progress if there is a callback.
template <typename Read>
auto read_with_progress(epi_progress callback, void* user, const Read& read) {
  trace::ReadProgress progress;
  decltype(read(&progress)) result;
  run_with_progress(
      callback, user, [&] { return progress.fraction(); }, [&] { progress.is_cancelled = true; },
      [&] { result = read(&progress); });
  return result;
}

epi_trace* new_handle(verbs::OpenTraces&& content) {
  return new epi_trace{std::make_shared<const verbs::OpenTraces>(std::move(content))};
}

std::string info_json(const verbs::OpenTraces& trace) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("files").begin_array();
  for (const verbs::TraceInput& input : trace.inputs) {
    json.begin_object().key("file").string(input.file).key("rank");
    input.has_rank ? json.integer(input.rank) : json.null();
    json.key("events").integer(input.trace().size()).key("notes").begin_array();
    for (const std::string& note : notes_on(input)) json.string(note);
    json.end_array().end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const std::string& note : trace.notes) json.string(note);
  return json.end_array().end_object().text();
}

std::string joined_notes(const verbs::OpenTraces& trace) {
  std::string text;
  const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  for (const std::string& note : trace.notes) add(note);
  for (const verbs::TraceInput& input : trace.inputs) {
    for (const std::string& note : notes_on(input)) {
      add(fmt::format("{}: note: {}", input.file, note));
    }
  }
  return text;
}

epi_status finish_open(verbs::OpenTraces&& content, epi_trace** trace, char** message) {
  *trace = new_handle(std::move(content));
  if (const std::string notes = joined_notes(*(*trace)->content); !notes.empty()) {
    set_message(message, notes);
  }
  return EPI_OK;
}

}  // namespace

std::shared_ptr<const verbs::OpenTraces> open_traces_of(const epi_trace* trace) {
  if (trace == nullptr) throw Error("the trace is null or closed");
  return trace->content;
}

void refuse_changed(const verbs::TraceInput& input) {
  if (!is_in_changed_file(input.trace().args_text.get())) return;
  throw Error(fmt::format("{}: changed while it was read", input.file));
}

void run_with_progress(epi_progress progress, void* user, const std::function<double()>& fraction,
                       const std::function<void()>& cancel, const std::function<void()>& work) {
  if (progress == nullptr) return work();
  constexpr auto kInterval = std::chrono::milliseconds(50);
  auto done = std::async(std::launch::async, work);
  bool is_cancelled = false;
  while (done.wait_for(kInterval) != std::future_status::ready) {
    if (is_cancelled || progress(user, fraction()) == 0) continue;
    is_cancelled = true;
    cancel();
  }
  try {
    done.get();
  } catch (const Error&) {
    // The reader reports a cancelled read as a failure of the file.
    if (!is_cancelled) throw;
  }
  if (is_cancelled) throw Cancelled();
}

}  // namespace epi::c

using namespace epi::c;

epi_status epi_trace_open(const char* const* paths, size_t count, const char* options,
                          epi_progress progress, void* user, epi_trace** trace, char** message) {
  return guarded(message, [&] {
    if (trace == nullptr) throw epi::Error("the result pointer is null");
    *trace = nullptr;
    const auto given = paths_of(paths, count);
    const auto flags = reading_options(options);
    auto read = read_with_progress(progress, user, [&](epi::trace::ReadProgress* watched) {
      return epi::verbs::read_traces(given, flags, watched);
    });
    epi::verbs::OpenTraces content;
    std::error_code failed;
    content.is_folder = count == 1 && std::filesystem::is_directory(given.front(), failed);
    content.title = count == 1 ? given.front() : fmt::format("{} traces", read.inputs.size());
    content.inputs = std::move(read.inputs);
    content.notes = std::move(read.notes);
    return finish_open(std::move(content), trace, message);
  });
}

epi_status epi_trace_open_memory(const void* data, size_t size, const char* name,
                                 const char* options, epi_progress progress, void* user,
                                 epi_trace** trace, char** message) {
  return guarded(message, [&] {
    if (trace == nullptr) throw epi::Error("the result pointer is null");
    *trace = nullptr;
    if (data == nullptr && size > 0) throw epi::Error("the data is null");
    const std::string title = name == nullptr ? "<memory>" : name;
    const auto flags = reading_options(options);
    auto input = read_with_progress(progress, user, [&](epi::trace::ReadProgress* watched) {
      return epi::verbs::read_trace_bytes(std::string(static_cast<const char*>(data), size), title,
                                          flags, watched);
    });
    epi::verbs::OpenTraces content;
    content.title = title;
    content.inputs.push_back(std::move(input));
    return finish_open(std::move(content), trace, message);
  });
}

void epi_trace_close(epi_trace** trace) {
  if (trace == nullptr) return;
  delete *trace;
  *trace = nullptr;
}

size_t epi_trace_count(const epi_trace* trace) {
  return trace == nullptr ? 0 : trace->content->inputs.size();
}

epi_status epi_trace_info(const epi_trace* trace, char** json, char** message) {
  if (json != nullptr) *json = nullptr;
  return guarded(message, [&] {
    if (json == nullptr) throw epi::Error("the result pointer is null");
    *json = new_text(info_json(*open_traces_of(trace)));
    return EPI_OK;
  });
}

epi_status epi_trace_save(const epi_trace* trace, size_t index, const char* path, char** message) {
  return guarded(message, [&] {
    const auto content = open_traces_of(trace);
    if (path == nullptr) throw epi::Error("the path is null");
    if (index >= content->inputs.size()) {
      throw epi::Error(fmt::format("no file {}: the trace has {}", index, content->inputs.size()));
    }
    const epi::verbs::TraceInput& input = content->inputs[index];
    const auto written = epi::trace::write(input.trace(), path);
    if (!written) throw epi::Error(written.error().message);
    return EPI_OK;
  });
}
