// SPDX-License-Identifier: Apache-2.0
// How the results of a verb are printed: in JSON, one object for one trace and a list for several;
// otherwise the text of each under its title. Then what is to know about the files.
#pragma once

#include <string>
#include <vector>

#include "epilogue/base/exit_codes.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/description/described_csv.h"
#include "epilogue/verbs/call.h"
#include "epilogue/verbs/options.h"

namespace epi::verbs {

// Adds FILE..., which must be given.
void add_files(Options& options, std::vector<TraceSource>& files);

// What is to know about a file: its defects, and the limits of the analysis that it exceeds.
std::vector<std::string> notes_on(const TraceInput& input);
// The files of the inputs, after folders were replaced by their ranks.
std::vector<std::string> files_of(const std::vector<TraceInput>& inputs);
// Shows the notes on all files, and which of several ranks have no rank in the file. Called last:
// throws if a file has changed since it was read.
void show_notices(Call& call, const std::vector<TraceInput>& inputs, bool are_ranks = true);

// The JSON value of a call. The members of the results are written between `begin` and `end`.
class ResultsJson {
 public:
  ResultsJson(Call& call, const std::vector<TraceInput>& inputs);

  JsonWriter& writer() { return json_; }
  report::DescribedJson& described() { return described_; }
  // Opens the object of an input: the value itself for one input, an element of "files" for
  // several.
  void begin(const TraceInput& input);
  // Adds the notes on the input and closes its object.
  void end(const TraceInput& input);
  // Closes the list of files. Members of the value itself may follow.
  void end_files();
  template <typename T>
  void member(const char* key, const T& value) {
    json_.key(key);
    described_.value(value);
  }
  void print();

 private:
  Call& call_;
  bool is_list_;
  bool is_list_open_;
  JsonWriter json_;
  report::DescribedJson described_;
};

// Prints the rows of the first list of a result, below a header for the first result. With several
// files, the first column is the file.
template <typename Result>
void print_csv(Call& call, const Result& result, const std::string* file, bool is_first) {
  const std::string prefix = file == nullptr ? "" : report::csv_cell(*file) + ',';
  report::with_first_list(result, [&](const auto& rows) {
    using Row = std::ranges::range_value_t<std::remove_cvref_t<decltype(rows)>>;
    if (is_first) call.print("{}{}\n", file == nullptr ? "" : "file,", report::csv_header<Row>());
    for (const auto& row : rows) call.print("{}{}\n", prefix, report::csv_row(row));
  });
}

// Prints a line above the output of each input if there are several.
void print_title(Call& call, const std::vector<TraceInput>& inputs, const TraceInput& input);

// Prints `result_of(input)`, a described result that has a `text_of`, for each input.
template <typename ResultOf>
int print_each(Call& call, const std::vector<TraceInput>& inputs, const ResultOf& result_of) {
  if (call.format() == Format::kJson) {
    ResultsJson json(call, inputs);
    for (const TraceInput& input : inputs) {
      json.begin(input);
      json.described().members(result_of(input));
      json.end(input);
    }
    json.print();
  } else if (call.format() == Format::kCsv) {
    for (const TraceInput& input : inputs) {
      print_csv(call, result_of(input), inputs.size() > 1 ? &input.file : nullptr,
                &input == &inputs.front());
    }
  } else {
    for (const TraceInput& input : inputs) {
      print_title(call, inputs, input);
      call.write(text_of(result_of(input), call.style()));
    }
  }
  show_notices(call, inputs);
  return kDone;
}

// Prints a result that is not of one trace.
template <typename Result>
void print_result(Call& call, const Result& result) {
  if (call.format() == Format::kCsv) return print_csv(call, result, nullptr, true);
  if (call.format() != Format::kJson) return call.write(text_of(result, call.style()));
  ResultsJson json(call, {});
  json.described().members(result);
  json.print();
}

}  // namespace epi::verbs
