// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/description/described_csv.h"

#include "epilogue/base/visible_text.h"

namespace epi::report {

std::string csv_cell(std::string_view given) {
  std::string text = visible_text(std::string(given), LineBreaks::kReplace);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out += '"';
}

}  // namespace epi::report
