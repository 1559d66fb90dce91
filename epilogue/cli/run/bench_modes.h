// SPDX-License-Identifier: Apache-2.0
// One block in all of its modes on one input. The modes take turns, so that a slow moment of the
// machine hits all of them, and ratios are taken turn by turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/cli/run/device_peaks.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/workload.h"

namespace epi::cli {

struct ModeResult {
  std::string mode;  // "eager", "compile pointwise", ...
  int64_t kernels = 0;
  std::vector<std::string> kernel_names{};  // in order, each once
  int64_t bytes = 0;
  int64_t flops = 0;
  Spread time_ns;
  Spread ratio;              // to eager, turn by turn
  Spread saved_ns;           // of eager's time, turn by turn
  double first_call_ns = 0;  // over a later call, without the cache; 0 for eager
};

// The least time that the GEMMs and the bytes of this mode can take, over what it took.
double share_of_peak(const ModeResult& result, const Peaks& peaks);

// Eager comes first.
std::vector<ModeResult> measure_modes(const Workload& workload);

}  // namespace epi::cli
