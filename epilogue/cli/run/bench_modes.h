// SPDX-License-Identifier: Apache-2.0
// Measures one block in all of its modes on one input. The modes run in interleaved rounds, so that
// a slow moment of the machine hits all of them. Ratios are computed per round.
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
  std::vector<std::string> kernel_names{};  // distinct, in order
  int64_t bytes = 0;
  int64_t flops = 0;
  Spread time_ns;
  Spread ratio;              // to eager, per round
  Spread saved_ns;           // compared with eager, per round
  double first_call_ns = 0;  // extra time of the first call, without the code cache; 0 for eager
};

// The roofline time over the measured time. The roofline time is that of the FLOPs or of the bytes
// at the device's peak, whichever is longer.
double share_of_peak(const ModeResult& result, const Peaks& peaks);

// The first result is eager mode.
std::vector<ModeResult> measure_modes(const Workload& workload);

}  // namespace epi::cli
