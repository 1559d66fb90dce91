// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernel_names.h"

#include "epilogue/analysis/names/decode.h"
#include "epilogue/report/kernel_report.h"

namespace epi::report {

std::vector<std::string> name_lines(std::string_view name, NameStyle style) {
  std::vector<std::string> lines;
  if (style != NameStyle::kDecoded) lines.emplace_back(name);
  if (style != NameStyle::kRaw) {
    std::string decoded = kernel_sentence(name, analysis::decode_name(name));
    if (lines.empty() || decoded != name) lines.push_back(std::move(decoded));
  }
  return lines;
}

}  // namespace epi::report
