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

#include <memory>
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

using NameRules = std::vector<NameRule>;

// `source` is the file's name for messages: "names.txt:3: ...".
Result<NameRules> parse_name_rules(std::string_view text, const std::string& source);

// The first rule that matches a function's name. Null if there is none.
const NameRule* find_rule(const NameRules& rules, std::string_view function);

// The built-in rules (known_names.txt), for names that no grammar covers.
const NameRules& known_names();

// While it exists, `decode_name` applies these rules first on this thread: those that the user of a
// call has given. Null for none.
class NamesInUse {
 public:
  explicit NamesInUse(std::shared_ptr<const NameRules> rules);
  NamesInUse(const NamesInUse&) = delete;
  NamesInUse& operator=(const NamesInUse&) = delete;
  ~NamesInUse();

 private:
  std::shared_ptr<const NameRules> before_;
};
// The rules in use on this thread, for the threads that work for it.
const std::shared_ptr<const NameRules>& names_in_use();

}  // namespace epi::analysis
