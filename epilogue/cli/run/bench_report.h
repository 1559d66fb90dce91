// SPDX-License-Identifier: Apache-2.0
// The table of modes of `bench` and `run --like`, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"
#include "epilogue/cli/run/bench_modes.h"
#include "epilogue/report/text/table.h"

namespace epi::cli {

// `modes[0]` is eager.
report::Table mode_table(const std::vector<ModeResult>& modes, const Peaks& peaks);
// Explains the columns of `mode_table`, in lines of at most 80 characters.
std::string mode_table_legend();
// "ratio p10 to p90: compile pointwise 0.950 to 1.020, ...": without its spread, a ratio means
// little.
std::string spread_text(const std::vector<ModeResult>& modes);
// Writes the member "modes".
void modes_json(JsonWriter& json, const std::vector<ModeResult>& modes, const Peaks& peaks);

}  // namespace epi::cli
