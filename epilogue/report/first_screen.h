// SPDX-License-Identifier: Apache-2.0
// `epilogue FILE`: what limits a step, where it went, what the GPU was busy with, what could help
// and how far to trust it, in 24 lines of 80 columns.
#pragma once

#include <optional>
#include <string>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/time/loading.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/analysis/time/work_groups.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

inline constexpr size_t kScreenLines = 24;
inline constexpr size_t kScreenGroups = 5;  // of work

struct ScreenData {
  analysis::Summary summary;
  analysis::Advised advised;
  analysis::WorkGroups groups;  // of the work in the diagnosed window
  analysis::Loading loading;
};

ScreenData screen_data(const analysis::TraceIndex& index);
std::string first_screen(const ScreenData& data, const trace::Trace& trace, const std::string& file,
                         size_t width);

// Members of an open object: "mfu", "work".
void screen_json(JsonWriter& json, const ScreenData& data);

// Model FLOPs utilisation: of GEMMs, convolutions and attention, over the dense peaks of their
// types. None where the trace does not tell the FLOPs of each.
std::optional<double> mfu(const ScreenData& data);

}  // namespace epi::report
