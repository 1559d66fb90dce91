// SPDX-License-Identifier: Apache-2.0
// What would make a step shorter, by how much, and how that was estimated. Advice carries numbers
// and events; `report/advise_report.h` puts it into words.
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
// Why: what the verdict rests on.
enum class Reason : uint8_t {
  kNoDevice,        // the trace shows the CPU alone
  kCompiled,        // the run is compiled already
  kGraphReplay,     // a graph launches most of the work: it cannot be compiled or captured again
  kCapture,         // a graph is captured: the launches start nothing
  kNotConclusive,   // most of the step waits for something that is not in the file
  kOtherLimit,      // neither the GPU's work nor the host's dispatch is the limit
  kOwnHostWork,     // the host is the limit, with work that is no dispatch
  kCpuKernels,      // kernels of a CPU: what fusing saves there is not estimated
  kNothingToFuse,   // every kernel is a GEMM, or alone
  kOwnGemm,         // nothing to fuse, but Epilogue's compiler has a GEMM of its own
  kSmallGain,       // there is something, but little
  kGain,            // fusing saves much of the device's time
  kDispatchGain,    // the CPU is the limit, and generated calls would be fewer
  kDispatchUnsure,  // the CPU is the limit, and what compiling adds is about what it removes
  kDispatchLoss,    // the CPU is the limit, and compiling adds more than it removes
};

struct AdviceReport {
  std::string subject;  // "ProfilerStep*", or an annotation; empty for the whole trace
  int64_t instances = 0;
  double device_ns = 0;  // the median's
  double cpu_ns = 0;
  double window_ns = 0;
  int64_t kernels = 0;
  std::optional<Diagnosis> diagnosis;
  FusionEstimate fusion;
  // What the CPU would take with compiled code, calls of the profiler included.
  Estimate compiled_cpu_ns;
  Verdict verdict = Verdict::kNo;
  Reason because = Reason::kNoDevice;
  std::vector<Advice> advice;  // the most worthwhile first
  Blocks blocks;
  std::vector<int64_t> block_rows;  // of the MLPs in any step that was looked at, without repeats
  bool cpu_kernels = false;         // instead of a GPU's
  bool own = false;                 // a trace of Epilogue: the compiler is Epilogue's
  int64_t kernels_compiled = 0;     // that a compiler leaves of `kernels`

  bool cpu_is_limit() const;
};

// About the steps, or what is called `under`; throws `Error` where nothing is.
AdviceReport advise(const TraceIndex& index, const std::optional<std::string>& under);

// Which of the estimates the run after the change is held against.
enum class Change : uint8_t {
  kFused,     // pointwise operators joined, as compilers do
  kGatedMlp,  // gate, up and the activation in one kernel
};

// The estimate made from one run beside what another, the run after the change, shows.
struct AdviceCheck {
  Change change = Change::kFused;
  bool cpu_kernels = false;
  double device_ns = 0;        // of the run before
  double after_device_ns = 0;  // of the run after
  Estimate saving_ns;
  double actual_ns = 0;
  int64_t kernels = 0;
  int64_t kernels_predicted = 0;
  int64_t kernels_after = 0;
  double compile_ns = 0;    // that the run after shows inside of its steps
  double unchanged_ns = 0;  // by which the kernels that both runs have are shorter in the run after

  bool has_estimate() const { return saving_ns.high > 0; }
  // Whether what was saved lies in the range, as exactly as the two runs can tell: kernels that are
  // the same in both do not take the same time either. None where nothing was estimated, or where
  // those differ by more than the estimate.
  std::optional<bool> holds() const {
    const double noise_ns = std::abs(unchanged_ns);
    if (!has_estimate() || noise_ns > saving_ns.likely) return std::nullopt;
    return actual_ns >= saving_ns.low - noise_ns && actual_ns <= saving_ns.high + noise_ns;
  }

  // Of the estimate, as a share of what came true; none where nothing was saved.
  std::optional<double> error() const {
    if (actual_ns <= 0) return std::nullopt;
    return saving_ns.likely / actual_ns - 1;
  }
};
// Throws `Error` where the two cannot be held against each other.
AdviceCheck check_advice(const TraceIndex& before, const TraceIndex& after,
                         const std::optional<std::string>& under);

}  // namespace epi::analysis
