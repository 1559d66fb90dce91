// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/print_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/visible_text.h"

namespace epi::verbs {

void add_files(Options& options, std::vector<TraceSource>& files) {
  options.add("FILE", files, "A trace, or a folder of ranks").required();
}

std::vector<std::string> notes_on(const TraceInput& input) {
  std::vector<std::string> notes = input.trace().defects.lines();
  for (std::string& line : input.loaded->reached_limits()) notes.push_back(std::move(line));
  return notes;
}

std::vector<std::string> files_of(const std::vector<TraceInput>& inputs) {
  std::vector<std::string> files;
  for (const TraceInput& input : inputs) files.push_back(input.file);
  return files;
}

void show_notices(Call& call, const std::vector<TraceInput>& inputs, bool are_ranks) {
  call.refuse_changed_inputs();
  const bool any_rank = std::any_of(inputs.begin(), inputs.end(),
                                    [](const TraceInput& input) { return input.has_rank; });
  for (const TraceInput& input : inputs) {
    const bool ranked = any_rank || !input.trace().property("distributedInfo").empty();
    if (are_ranks && ranked && !input.has_rank) {
      call.note("{}: note: no rank in the file, assuming 0", input.file);
    }
    for (const std::string& note : notes_on(input)) call.note("{}: note: {}", input.file, note);
  }
}

ResultsJson::ResultsJson(Call& call, const std::vector<TraceInput>& inputs)
    : call_(call),
      is_list_(inputs.size() > 1),
      is_list_open_(is_list_),
      described_(json_, call.options().schema) {
  json_.begin_object().key("schema").integer(call.options().schema);
  if (is_list_) json_.key("files").begin_array();
}

void ResultsJson::begin(const TraceInput& input) {
  if (is_list_) json_.begin_object();
  json_.key("file").string(input.file).key("rank").integer(input.rank);
}

void ResultsJson::end(const TraceInput& input) {
  member("notes", notes_on(input));
  if (is_list_) json_.end_object();
}

void ResultsJson::end_files() {
  if (is_list_open_) json_.end_array();
  is_list_open_ = false;
}

void ResultsJson::print() {
  end_files();
  json_.end_object();
  call_.print("{}\n", json_.text());
}

void print_title(Call& call, const std::vector<TraceInput>& inputs, const TraceInput& input) {
  if (inputs.size() < 2) return;
  const bool first = &input == &inputs.front();
  call.print("{}{}{}\n", first ? "" : "\n",
             input.has_rank ? fmt::format("rank {}: ", input.rank) : "",
             visible_text(input.file, LineBreaks::kReplace));
}

}  // namespace epi::verbs
