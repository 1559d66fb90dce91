// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/names_option.h"

#include "epilogue/base/error.h"

namespace epi::verbs {

void add_names(Options& options, std::string& names) {
  options.add("--names", names, "How kernel names are shown").value_name("raw|decoded|both");
}

std::optional<report::NameStyle> parse_name_style(const char* verb, const std::string& names) {
  if (names.empty()) return std::nullopt;
  if (names == "raw") return report::NameStyle::kRaw;
  if (names == "decoded") return report::NameStyle::kDecoded;
  if (names == "both") return report::NameStyle::kBoth;
  fail(verb, "--names {}: must be raw, decoded or both", names);
}

}  // namespace epi::verbs
