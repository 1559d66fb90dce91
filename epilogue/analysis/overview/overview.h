// SPDX-License-Identifier: Apache-2.0
// What the first screen and the report page show of a trace.
#pragma once

#include <optional>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/step/summary.h"
#include "epilogue/analysis/time/host_work.h"
#include "epilogue/analysis/time/loading.h"
#include "epilogue/analysis/time/work_groups.h"

namespace epi::analysis {

// The models must outlive it.
struct Overview {
  Overview() = default;
  explicit Overview(const StepModels& models);

  Summary summary;
  AdviceReport advised;
  WorkGroups groups;   // of the work that the shown step owns
  Loading loading;     // in the window of the shown step
  HostWork host_work;  // on the critical path of the shown step
  // Share of the step's GPU time whose kind comes from its operator, or is unknown.
  double kind_of_op_share = 0;
  double unknown_share = 0;
  bool has_stacks = false;  // Python stacks are recorded
  int64_t profiler_ns = 0;  // profiler overhead in the window

  // Model FLOPs utilization: FLOPs of GEMMs, convolutions and attention, relative to the dense
  // peaks of their types. A lower bound if the FLOPs of some kernels are unknown, none if all are.
  std::optional<double> mfu() const;
};

// Groups of work in the table of the screen, at most.
inline constexpr size_t kOverviewGroups = 5;

}  // namespace epi::analysis
