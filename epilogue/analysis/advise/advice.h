// SPDX-License-Identifier: Apache-2.0
// One piece of advice: what would shorten a step, by how much, and how that was estimated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/fusion_estimate.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

enum class AdviceKind : uint8_t {
  kFuse,         // several kernels into one generated kernel
  kRegenerate,   // one kernel that generated code would beat
  kGatedMlp,     // gate and up in one GEMM, the activation in its epilogue
  kGraph,        // replay launches as a CUDA graph
  kBatch,        // more rows per launch
  kSync,         // a call that waits for the device
  kPageable,     // copies from memory that is not pinned
  kTensorCores,  // f32 GEMMs without TF32
  kAlignment,    // sizes that tensor cores cannot load efficiently
  kCopies,       // copies that only change the layout
  kWaves,        // tiles that leave part of the GPU idle
  kGuards,       // looking up compiled code
  kBreaks,       // several compiled regions in a step
  kRecompiles,   // several variants of one region
  kCompiling,    // compilation inside steps
  kInput,        // loading data while the device waits
  kAddmm,        // a GEMM and the following add as one
  kAttention,    // bmm, softmax, bmm as one kernel
  kAllocation,   // allocating and freeing device memory
  kOverlap,      // collectives that nothing overlaps
};

// kLikely: pairs of recordings confirm this kind of advice (docs/advise.md). kGuess: a rule of
// thumb. kNotConclusive: the range is wider than the estimate on either side.
enum class Confidence : uint8_t { kNotConclusive, kGuess, kLikely };

// A number that the estimate is based on. `what` decides its unit.
struct Term {
  enum class What : uint8_t {
    kGemms,
    kTakes,
    kFlops,
    kTf32Peak,
    kShareOfPeak,
    kTiles,
    kMultiprocessors,
    kFilled,
    kPlaces,
    kKernels,
    kMoves,
    kWouldMove,
    kMeasuredRate,
    kDataSheetRate,
    kWouldTake,
    kBlocks,
    kBetweenGemms,
    kCopies,
    kDeviceWaits,
    kWindow,
    kLaunches,
    kRowsCouldGrow,
    kCalls,
    kCpuWaits,
    kIdleAfter,
    kLookUps,
    kRegionsInStep,
    kLookUpTakes,
    kRegions,
    kVariants,
    kCompilations,
    kTakesInSteps,
  };
  What what;
  double value;
};

// Share of the host's time in a profiled step that remains without a profiler. Measured in pairs of
// recordings on an H200, see docs/advise.md.
inline constexpr Estimate kUnprofiledHost = {0.45, 0.68, 1};

struct Advice {
  AdviceKind kind = AdviceKind::kFuse;
  std::vector<std::string> about;  // operators, or GEMM sizes
  bool on_device = true;           // saves device work; false: saves waiting for the CPU
  Estimate saving_ns;              // per step: of device work, or of waiting
  // How much shorter the step becomes, from its graph with these events shortened or the host
  // activity removed. Never more than the removed time.
  double step_saving_ns = 0;
  bool is_timed = false;  // false: the graph contains nothing that the advice changes
  bool overlaps = false;  // shares most of its events with earlier advice in the list
  // The step's time and limiter after this and all earlier advice in the list.
  double step_after_ns = 0;
  Limiter then_limited_by = Limiter::kNoDevice;
  bool has_workers = false;  // kInput: the loader already has workers
  Confidence confidence = Confidence::kGuess;
  std::vector<Term> terms;
  std::vector<trace::EventId> events;
};

}  // namespace epi::analysis
