// SPDX-License-Identifier: Apache-2.0
// Rules for names that no grammar covers, one per line: a pattern, and the properties of the
// kernel.
//
//   # pattern                     what it is
//   acme::*rope*                  library=acme kind=pointwise ops=rope
//   _bgmv_expand_kernel           library=vllm kind=gemm dtype=bf16
//
// A pattern matches a function's name without return type, template arguments and parameters. `*`
// matches any text. The first matching rule applies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/base/result.h"

namespace epi::analysis {

struct NameRule {
  std::string pattern;
  DecodedName fields;  // fields that the line does not set are unknown
};

// `source` is the file's name for messages: "names.txt:3: ...".
Result<std::vector<NameRule>> parse_name_rules(std::string_view text, const std::string& source);

// The first rule that matches a function's name. Null if there is none.
const NameRule* find_rule(const std::vector<NameRule>& rules, std::string_view function);

// The built-in rules (known_names.txt), for names that no grammar covers.
const std::vector<NameRule>& known_names();

// The rules of --names-file, which `decode_name` applies first. Process-wide. Must be set before
// the first name is decoded.
void set_user_names(std::vector<NameRule> rules);
const std::vector<NameRule>& user_names();

}  // namespace epi::analysis
