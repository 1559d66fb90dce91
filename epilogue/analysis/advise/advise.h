// SPDX-License-Identifier: Apache-2.0
// What would shorten a step, by how much, and how that was estimated. Advice consists of numbers
// and events, and `report/advise_report.h` turns it into text.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/time/diagnosis.h"

namespace epi::analysis {

enum class Verdict : uint8_t { kNo, kMaybe, kLikely };
// The reason for the verdict.
enum class Reason : uint8_t {
  kNoDevice,        // the trace has no device work
  kCompiled,        // the run is already compiled
  kGraphReplay,     // a graph launches most of the work, which cannot be compiled or captured again
  kCapture,         // a graph is captured: the launches start nothing
  kNotConclusive,   // most of the step waits for something that is not in the trace
  kOtherLimit,      // neither GPU work nor host dispatch is the limit
  kUserHostWork,    // the host is the limit, with work other than dispatch
  kCpuKernels,      // CPU kernels: the saving is not estimated
  kNothingToFuse,   // every kernel is a GEMM, or has no neighbor to fuse with
  kCustomGemm,      // nothing to fuse, but Epilogue's compiler has a custom GEMM
  kSmallGain,       // fusion saves something, but little
  kGain,            // fusion saves a large share of device time
  kDispatchGain,    // host-bound, and compiled code needs less CPU time
  kDispatchUnsure,  // host-bound, and compilation adds about as much as it removes
  kDispatchLoss,    // host-bound, and compilation adds more than it removes
};

struct AdviceReport {
  std::string subject;  // "ProfilerStep*" or an annotation; empty for the whole trace
  int64_t instances = 0;
  double device_ns = 0;  // median
  double cpu_ns = 0;
  int64_t kernels = 0;
  std::optional<Diagnosis> diagnosis;
  FusionEstimate fusion;
  // Estimated CPU time with compiled code, including profiler overhead.
  Estimate compiled_cpu_ns;
  Verdict verdict = Verdict::kNo;
  Reason reason = Reason::kNoDevice;
  std::vector<Advice> advice;  // largest saving first
  Blocks blocks;
  std::vector<int64_t> block_rows;  // distinct row counts of the MLPs in the first steps
  bool cpu_kernels = false;         // the kernels ran on the CPU backend
  bool is_epilogue_trace = false;   // recorded by Epilogue: the compiler is Epilogue's
  int64_t kernels_compiled = 0;     // kernels left after compilation

  bool cpu_is_limit() const;
};

// Advises on the steps, or on the subject named `under`. Throws `Error` if nothing has that name.
AdviceReport advise(const TraceIndex& index, const std::optional<std::string>& under);

// The estimate that a second run is compared with.
enum class Change : uint8_t {
  kFused,     // pointwise operators fused, as compilers do
  kGatedMlp,  // gate, up and the activation in one kernel
};

// The estimate from one run, next to the measurement of a second run with the change.
struct AdviceCheck {
  Change change = Change::kFused;
  bool cpu_kernels = false;
  double device_ns = 0;        // of the first run
  double after_device_ns = 0;  // of the second run
  Estimate saving_ns;
  double actual_ns = 0;
  int64_t kernels = 0;
  int64_t kernels_predicted = 0;
  int64_t kernels_after = 0;
  double compile_ns = 0;    // compilation inside the second run's steps
  double unchanged_ns = 0;  // time that the kernels common to both runs save in the second run

  bool has_estimate() const { return saving_ns.high > 0; }
  // Whether the saving lies in the estimated range. The tolerance is the difference in time of
  // kernels that are the same in both runs. None if nothing was estimated, or if that difference
  // exceeds the estimate.
  std::optional<bool> holds() const {
    const double noise_ns = std::abs(unchanged_ns);
    if (!has_estimate() || noise_ns > saving_ns.likely) return std::nullopt;
    return actual_ns >= saving_ns.low - noise_ns && actual_ns <= saving_ns.high + noise_ns;
  }

  // Relative error of the estimate. None if nothing was saved.
  std::optional<double> error() const {
    if (actual_ns <= 0) return std::nullopt;
    return saving_ns.likely / actual_ns - 1;
  }
};
// Throws `Error` if the runs cannot be compared.
AdviceCheck check_advice(const TraceIndex& before, const TraceIndex& after,
                         const std::optional<std::string>& under);

}  // namespace epi::analysis
