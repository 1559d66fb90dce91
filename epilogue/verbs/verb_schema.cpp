// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/verb_schema.h"

#include <fmt/format.h>

#include <utility>

namespace epi::verbs {

VerbSchema::VerbSchema(std::string_view verb) {
  json_.begin_object();
  json_.key("$schema").string("https://json-schema.org/draft/2020-12/schema");
  json_.key("title").string(fmt::format("epilogue {} --json", verb));
  json_.key("anyOf").begin_array();
}

void VerbSchema::begin_object(std::vector<std::string_view> common) {
  required_ = std::move(common);
  json_.begin_object().key("type").string("object").key("properties").begin_object();
  for (const std::string_view key : required_) {
    json_.key(key).begin_object();
    if (key == "schema") {
      json_.key("const").integer(report::kSchema);
    } else if (key == "notes") {
      json_.key("description").string("what is to know about the file, such as that it is cut");
      json_.key("type").string("array");
      json_.key("items").begin_object().key("type").string("string").end_object();
    } else {
      json_.key("type").string(key == "rank" ? "integer" : "string");
    }
    json_.end_object();
  }
}

void VerbSchema::end_object() {
  json_.end_object();
  schema_.end_object(required_);
}

void VerbSchema::begin_files() {
  json_.key("files").begin_object().key("type").string("array").key("items");
  begin_object({"file", "rank", "notes"});
}

void VerbSchema::end_files() {
  end_object();
  json_.end_object();
  required_ = {"schema", "files"};
}

VerbSchema& VerbSchema::of_rows() {
  const auto rows = [&] {
    json_.begin_object().key("type").string("array");
    json_.key("items").begin_object().key("type").string("object").end_object();
    json_.end_object();
  };
  rows();
  begin_object({"schema"});
  begin_files();
  json_.key("rows");
  rows();
  required_.emplace_back("rows");
  end_files();
  end_object();
  return *this;
}

std::string VerbSchema::text() {
  json_.end_array();
  schema_.definitions();
  json_.end_object();
  return json_indented(json_.text()) + '\n';
}

}  // namespace epi::verbs
