// SPDX-License-Identifier: Apache-2.0
// Modes side by side, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/run/bench_modes.h"
#include "epilogue/report/table.h"

namespace epi::cli {

// Eager comes first.
report::Table mode_table(const std::vector<ModeResult>& modes, const Peaks& peaks);
// "pointwise 0.98 (0.95 to 1.02)": a ratio without its spread says little.
std::string spread_text(const std::vector<ModeResult>& modes);
// The member "modes".
void modes_json(JsonWriter& json, const std::vector<ModeResult>& modes, const Peaks& peaks);

}  // namespace epi::cli
