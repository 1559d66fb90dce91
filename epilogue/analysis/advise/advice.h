// SPDX-License-Identifier: Apache-2.0
// One piece of advice: what would shorten a step, by how much, and how that was estimated. The
// kinds are the rows of advice.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/estimate.h"
#include "epilogue/analysis/step/diagnosis.h"

namespace epi::analysis {

enum class AdviceKind : uint8_t {
#define EPI_ADVICE(kind, key, title, short_title, effect, needs, adviser) kind,
#include "epilogue/analysis/advise/advice.def"
#undef EPI_ADVICE
};

// What following the advice changes in the graph of a step.
enum class Effect : uint8_t {
  kShortensWork,        // the GPU events that it names
  kShortensHost,        // the host events that it names
  kRemovesWaits,        // the waiting of the calls that it names
  kRemovesLaunches,     // dispatch and launches
  kRemovesCompilation,  // and the next ones: everything with this bound
  kRemovesLoading,
  kRemovesAllocation,
  kRemovesCommunication,
  kOtherWork,  // the step does other work: the graph does not show it
};
enum class Needs : uint8_t { kAny, kGpuEstimate, kGpu };
struct AdviceRow {
  Effect effect;
  Needs needs;
};
const AdviceRow& row_of(AdviceKind kind);
// True if it shortens GPU work, false if it shortens what the GPU waits for.
inline bool is_about_work(AdviceKind kind) { return row_of(kind).effect == Effect::kShortensWork; }

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
inline constexpr size_t kTerms = 32;

// The share of the host's time in a profiled step that remains without a profiler: inside operators
// and calls, and between them, where the profiler itself takes most of the time.
struct HostSpeed {
  double in_ops = 1;
  double outside_ops = 1;
};
// Fast, likely, as recorded. Measured in recordings of host-bound steps on an H200, see
// docs/advise.md.
inline constexpr HostSpeed kUnprofiledHosts[] = {{0.57, 0}, {0.8, 0}, {1, 1}};

struct Advice {
  AdviceKind kind{};
  std::vector<std::string> about;  // operators, GEMM sizes, a function
  // What it removes from its events, before the step is re-timed: GPU work, or waiting.
  Estimate removes_ns;
  Confidence confidence = Confidence::kGuess;
  std::vector<Term> terms;
  std::vector<trace::EventId> events;
  std::vector<trace::EventId> host_events;  // on the host: go away with its work

  // Set for all kinds alike by `rank_advice`.

  // Of a step that runs without a profiler: its time before minus its time after.
  Estimate saving_ns;
  // The same of a step under the profiler, which a second trace shows. Only for GPU work.
  Estimate profiled_saving_ns;
  // The most that it can save of a step.
  double bound_ns = 0;
  // The step's time and limiter after this and all earlier advice in the list, without
  // alternatives.
  double step_after_ns = 0;
  Limiter then_limited_by = Limiter::kNoDevice;
  bool is_estimated = false;    // not for CPU kernels, nor for the smallest of many
  bool is_alternative = false;  // shares most of its events with earlier advice in the list

  // Whether there is such a step: the graph shows the effect, and the saving is estimated.
  bool has_step_after() const {
    return row_of(kind).effect != Effect::kOtherWork && saving_ns.high > 0 && !is_alternative;
  }
};

}  // namespace epi::analysis
