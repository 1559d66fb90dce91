// SPDX-License-Identifier: Apache-2.0
// The data of the first screen.
#pragma once

#include <optional>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/time/loading.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/analysis/time/work_groups.h"

namespace epi::report {

inline constexpr size_t kScreenGroups = 5;  // at most, in the table of GPU work

struct ScreenData {
  analysis::Summary summary;
  analysis::AdviceReport advised;
  analysis::WorkGroups groups;  // of the work in the diagnosed window
  analysis::Loading loading;
  // Time in the window with no other device work at the same time.
  int64_t communication_alone_ns = 0;
  int64_t copies_alone_ns = 0;  // between host and device
  bool has_stacks = false;      // Python stacks are recorded
  int64_t profiler_ns = 0;      // profiler overhead in the window
};

ScreenData screen_data(const analysis::TraceIndex& index);

// Model FLOPs utilization: FLOPs of GEMMs, convolutions and attention, relative to the dense peaks
// of their types. A lower bound if the FLOPs of some kernels are unknown, none if all are unknown.
std::optional<double> mfu(const ScreenData& data);

}  // namespace epi::report
