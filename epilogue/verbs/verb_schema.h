// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of what a verb prints with --json (print_results.h).
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "epilogue/report/description/json_schema.h"

namespace epi::verbs {

class VerbSchema {
 public:
  explicit VerbSchema(std::string_view verb);

  // Results of one trace: alone, or one of several in the list "files". A further member of the
  // call may follow.
  template <report::Described Result, typename Further = void>
  VerbSchema& of_trace(const char* further = nullptr) {
    begin_object({"schema", "file", "rank", "notes"});
    schema_.template members<Result>(required_);
    further_member<Further>(further);
    end_object();
    begin_object({"schema"});
    begin_files();
    schema_.template members<Result>(required_);
    end_files();
    further_member<Further>(further);
    end_object();
    return *this;
  }
  // A result that is not of one trace.
  template <report::Described Result>
  VerbSchema& of_call() {
    begin_object({"schema"});
    schema_.template members<Result>(required_);
    end_object();
    return *this;
  }
  // Rows with columns of the user's choice: alone, or those of each trace in "files".
  VerbSchema& of_rows();

  std::string text();

 private:
  template <typename Further>
  void further_member(const char* key) {
    if constexpr (!std::is_void_v<Further>) {
      json_.key(key);
      schema_.template value<Further>();
    }
  }
  // The members "schema", "file", "rank" and "notes", as far as they are in the list.
  void begin_object(std::vector<std::string_view> common);
  void end_object();
  void begin_files();
  void end_files();

  JsonWriter json_;
  report::SchemaWriter schema_{json_};
  std::vector<std::string_view> required_;  // of the open object
};

}  // namespace epi::verbs
