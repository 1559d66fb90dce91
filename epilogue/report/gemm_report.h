// SPDX-License-Identifier: Apache-2.0
// The GEMMs of a trace, as text, Markdown and JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "epilogue/analysis/time/gemms.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

// Shows at most `limit` rows and, if there are more, their number.
std::string gemms_text(const analysis::GemmTable& table, std::optional<size_t> limit, bool markdown,
                       size_t width);
// Writes the members `gemms`, `device` and `peak` of an open object.
void gemms_json(JsonWriter& json, const analysis::GemmTable& table, std::optional<size_t> limit);

}  // namespace epi::report
