// SPDX-License-Identifier: Apache-2.0
// What would shorten a step, by how much, and how that was estimated. Advice consists of numbers
// and events, and `report/advise_report.h` turns it into text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

enum class Verdict : uint8_t { kNo, kMaybe, kLikely, kNotConclusive };
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
  StepModel step;  // the shown step
  std::optional<Diagnosis> diagnosis;
  MissingWork missing_work;  // if there is no diagnosis
  FusionEstimate fusion;
  // Estimated CPU time with compiled code, including profiler overhead.
  Estimate compiled_cpu_ns;
  Verdict verdict = Verdict::kNo;
  Reason reason = Reason::kNoDevice;
  AdviceList advice;  // largest saving first
  Blocks blocks;
  std::vector<int64_t> block_rows;  // distinct row counts of the MLPs in the first steps
  bool cpu_kernels = false;         // the kernels ran on the CPU backend
  bool is_epilogue_trace = false;   // recorded by Epilogue: the compiler is Epilogue's
  int64_t kernels_compiled = 0;     // kernels left after compilation

  bool cpu_is_limit() const;
};

// The steps, or the subject named `under`. Throws `Error` if nothing has that name.
StepGroup advice_subject(const StepModels& models, const std::optional<std::string>& under);
// Kernels left if gate and up become one kernel, with the work between the GEMMs in its epilogue.
int64_t kernels_with_gated_mlps(const AdviceReport& report);

// Advises on the steps, or on the subject named `under`. Throws `Error` if nothing has that name.
// The models must outlive the result.
AdviceReport advise(const StepModels& models, const std::optional<std::string>& under);

}  // namespace epi::analysis
