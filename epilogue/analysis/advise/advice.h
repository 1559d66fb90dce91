// SPDX-License-Identifier: Apache-2.0
// One piece of advice: what would make a step shorter, by how much, and how that was estimated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/fusion_estimate.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

enum class AdviceKind : uint8_t {
  kFuse,         // several kernels into a generated one
  kRegenerate,   // one kernel that generated code would beat
  kGatedMlp,     // gate and up in one GEMM, the activation in its epilogue
  kGraph,        // replay launches as a CUDA graph
  kBatch,        // more rows for each launch
  kSync,         // a call that waits for the device
  kPageable,     // copies from memory that is not pinned
  kTensorCores,  // f32 GEMMs without tf32
  kAlignment,    // sizes that tensor cores cannot load at once
  kCopies,       // copies that only change the layout
  kWaves,        // tiles that leave a part of the GPU idle
  kGuards,       // looking up compiled code
  kBreaks,       // several compiled regions in a step
  kRecompiles,   // several variants of one region
  kCompiling,    // compiling inside of the steps
  kInput,        // loading data while the device waits
  kAddmm,        // a GEMM and an add behind it as one
  kAttention,    // bmm, softmax, bmm as one kernel
  kAllocation,   // allocating and freeing device memory
  kOverlap,      // collectives with nothing beside them
};

// Likely: pairs of recordings confirm this kind of advice (docs/advise.md). A guess: a rule of
// thumb. Not conclusive: the range is wider than the estimate on either side.
enum class Confidence : uint8_t { kNotConclusive, kGuess, kLikely };

// A number that the estimate is made of; what it counts decides its unit.
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

// Of the host's time in a profiled step, what it takes without a profiler. From pairs on an H200:
// docs/advise.md.
inline constexpr Estimate kUnprofiledHost = {0.45, 0.68, 1};

struct Advice {
  AdviceKind kind = AdviceKind::kFuse;
  std::vector<std::string> about;  // operators, or the sizes of a GEMM
  bool on_device = true;           // it saves the device's work; else its waiting for the CPU
  Estimate saving_ns;              // a step: of the device's work, or of its waiting
  // How much shorter the step would be: its graph timed again with these events shorter, or without
  // what the host does. Never more than that removes.
  double step_saving_ns = 0;
  bool is_timed = false;  // false: the graph has nothing that the advice would change
  bool overlaps = false;  // most of its events are those of advice before it in the list
  // After it and all advice before it in the list: how long the step is, and what limits it.
  double step_after_ns = 0;
  Limiter then_limited_by = Limiter::kNoDevice;
  bool in_part = false;  // of kInput: there are workers already
  Confidence confidence = Confidence::kGuess;
  std::vector<Term> terms;
  std::vector<trace::EventId> events;
};

}  // namespace epi::analysis
