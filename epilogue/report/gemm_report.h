// SPDX-License-Identifier: Apache-2.0
// The GEMMs of a trace, as text, Markdown and JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "epilogue/analysis/time/gemms.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/table.h"

namespace epi::report {

// Shows at most `limit` rows and, if there are more, their number.
std::string gemms_text(const analysis::GemmTable& table, std::optional<size_t> limit, bool markdown,
                       size_t width);
// At most `limit` rows, with the decoded kernel names in the first column.
Table gemms_table(const analysis::GemmTable& table, size_t limit);
// The peaks of the GPU, or why they are unknown.
std::string peak_note(const analysis::GemmTable& table);
// Writes the members `gemms`, `device` and `peak` of an open object.
void gemms_json(JsonWriter& json, const analysis::GemmTable& table, std::optional<size_t> limit);

}  // namespace epi::report
