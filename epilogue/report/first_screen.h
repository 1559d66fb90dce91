// SPDX-License-Identifier: Apache-2.0
// `epilogue FILE` in 24 lines of 80 columns: what limits a step, where its time goes, what the GPU
// works on, what could help, and how reliable the numbers are.
#pragma once

#include <string>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/screen_data.h"

namespace epi::report {

inline constexpr size_t kScreenLines = 24;

// `suggests_run`: the last line may suggest `epilogue run`.
std::string first_screen(const ScreenData& data, const trace::Trace& trace, const std::string& file,
                         size_t width, bool suggests_run = true);

// Writes the members `mfu`, `mfu_at_least` and `work` of an open object.
void screen_json(JsonWriter& json, const ScreenData& data);

}  // namespace epi::report
