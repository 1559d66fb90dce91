// SPDX-License-Identifier: Apache-2.0
// `epilogue FILE`: what limits a step, where it went, what the GPU was busy with, what could help
// and how far to trust it, in 24 lines of 80 columns.
#pragma once

#include <string>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/screen_data.h"

namespace epi::report {

inline constexpr size_t kScreenLines = 24;

std::string first_screen(const ScreenData& data, const trace::Trace& trace, const std::string& file,
                         size_t width);

// Members of an open object: "mfu", "work".
void screen_json(JsonWriter& json, const ScreenData& data);

}  // namespace epi::report
