// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernels/kernel_names.h"

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/kernels/kernel_report.h"

namespace epi::report {

std::vector<std::string> name_lines(std::string_view name, NameStyle style) {
  std::vector<std::string> lines;
  if (style != NameStyle::kDecoded) lines.push_back(visible_text(name, LineBreaks::kReplace));
  if (style != NameStyle::kRaw) {
    const std::string decoded = kernel_sentence(name, analysis::decode_name(name));
    if (lines.empty() || decoded != name) {
      lines.push_back(visible_text(decoded, LineBreaks::kReplace));
    }
  }
  return lines;
}

}  // namespace epi::report
