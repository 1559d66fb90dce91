// SPDX-License-Identifier: Apache-2.0
// The summary of a trace: Markdown, or JSON.
#pragma once

#include <string>

#include "epilogue/analysis/time/summary.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"

namespace epi::report {

// As Markdown; `first_screen.h` is what a terminal gets.
std::string summary_markdown(const analysis::Summary& summary, const std::string& file,
                             NameStyle names = NameStyle::kDecoded);
// Members of an open object.
void summary_json(JsonWriter& json, const analysis::Summary& summary);

}  // namespace epi::report
