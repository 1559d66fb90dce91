// SPDX-License-Identifier: Apache-2.0
// Names that no grammar here reads, as lines of a file: a pattern, and what such a kernel is.
//
//   # pattern                     what it is
//   acme::*rope*                  library=acme kind=pointwise ops=rope
//   _bgmv_expand_kernel           library=vllm kind=gemm dtype=bf16
//
// A pattern is a function's name without its return type, template arguments and parameters; `*` is
// any text. The first that fits counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/base/result.h"

namespace epi::analysis {

struct NameRule {
  std::string pattern;
  DecodedName says;  // unknown is what the line does not say
};

// `source` is the file's name, for messages: "names.txt:3: ...".
Result<std::vector<NameRule>> parse_name_rules(std::string_view text, const std::string& source);

// The first rule for a function of this name; null where there is none.
const NameRule* find_rule(const std::vector<NameRule>& rules, std::string_view function);

// Those that come with the tool (known_names.txt), for names that no grammar reads.
const std::vector<NameRule>& known_names();

// Those of --names-file: `decode_name` asks them first. For the whole process; to be set before the
// first name is read.
void set_user_names(std::vector<NameRule> rules);
const std::vector<NameRule>& user_names();

}  // namespace epi::analysis
