// SPDX-License-Identifier: Apache-2.0
// The summary of a trace: one screen of text, or JSON.
#pragma once

#include <string>

#include "epilogue/analysis/time/summary.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

std::string summary_text(const analysis::Summary& summary, const std::string& file, bool markdown,
                         size_t width);
// Members of an open object.
void summary_json(JsonWriter& json, const analysis::Summary& summary);

}  // namespace epi::report
