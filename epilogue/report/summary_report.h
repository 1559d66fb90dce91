// SPDX-License-Identifier: Apache-2.0
// The summary of a trace as Markdown and JSON. Terminals get `first_screen.h`.
#pragma once

#include <string>

#include "epilogue/analysis/time/summary.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"

namespace epi::report {

std::string summary_markdown(const analysis::Summary& summary, const std::string& file,
                             NameStyle names = NameStyle::kDecoded);
// Writes members of an open object.
void summary_json(JsonWriter& json, const analysis::Summary& summary);

}  // namespace epi::report
