// SPDX-License-Identifier: Apache-2.0
// What the first screen shows of a trace.
#pragma once

#include <optional>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/time/loading.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/analysis/time/work_groups.h"

namespace epi::report {

inline constexpr size_t kScreenGroups = 5;  // of work

struct ScreenData {
  analysis::Summary summary;
  analysis::AdviceReport advised;
  analysis::WorkGroups groups;  // of the work in the diagnosed window
  analysis::Loading loading;
  // Of the window, with no other device work at the same time.
  int64_t communication_alone_ns = 0;
  int64_t copies_alone_ns = 0;  // between host and device
  bool has_stacks = false;      // of Python
  int64_t profiler_ns = 0;      // of the window, that the profiler itself took
};

ScreenData screen_data(const analysis::TraceIndex& index);

// Model FLOPs utilisation: of GEMMs, convolutions and attention, over the dense peaks of their
// types. A lower bound where the trace does not tell the FLOPs of each; none where it tells none.
std::optional<double> mfu(const ScreenData& data);

}  // namespace epi::report
