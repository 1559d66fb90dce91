// SPDX-License-Identifier: Apache-2.0
// A rule of `expect`: `mlp_fwd: kernels == 5`. rule_parser.h parses it, expect.h checks it.
//
//   rule    := ["each rank" ":"] subject ":" claim | "ranks" ":" [each|any|avg|median] of_ranks
//   subject := "step" | "trace" | NAME | /regex/
//   claim   := [each|any|avg|median] measure cmp value | (has|no) what | "same kernels as" PATH
//   measure := kernels | launches | gemm | pointwise | reduction | memcpy | memset | syncs
//            | gpu_time | cpu_time | busy | idle | bytes | count THING
//   what    := (kernel|op|call) THING | memcpy | memset | sync          THING := NAME | /regex/
//   of_ranks := (skew | wait | deviation | stragglers) cmp value
//   cmp     := == != < <= > >=     value := a number with ns us ms s % B kB MB GB or nothing
#pragma once

#include <string>

#include "epilogue/analysis/index/pattern.h"

namespace epi::analysis {

enum class SubjectKind { kStep, kTrace, kNamed, kRanks };
enum class Quantifier { kEach, kAny, kAvg, kMedian };
enum class Measure {
  kKernels,
  kLaunches,
  kGemm,
  kPointwise,
  kReduction,
  kMemcpy,
  kMemset,
  kSyncs,
  kGpuTime,
  kCpuTime,
  kBusy,
  kIdle,
  kBytes,
  kCount,
  // Of the ranks of a job:
  kSkew,        // of a collective
  kWait,        // of the median rank in a collective
  kDeviation,   // of a rank's step from the median rank's
  kStragglers,  // ranks that the others wait for
};
enum class Cmp { kEqual, kNotEqual, kLess, kLessOrEqual, kMore, kMoreOrEqual };
enum class What { kKernel, kOp, kCall, kMemcpy, kMemset, kSync };
enum class ClaimKind { kMeasure, kHas, kHasNo, kSameKernels };
// The unit of a value.
enum class RuleUnit { kCount, kNanoseconds, kBytes, kShare };

struct Rule {
  std::string text;
  SubjectKind subject = SubjectKind::kStep;
  Pattern subject_name{};
  ClaimKind claim = ClaimKind::kMeasure;
  // kMeasure
  Quantifier quantifier = Quantifier::kEach;
  Measure measure = Measure::kKernels;
  Cmp cmp = Cmp::kEqual;
  double value = 0;                  // in `unit`
  RuleUnit unit = RuleUnit::kCount;  // `idle` is a time or a share of the window
  // kHas, kHasNo; `count` uses `thing` too
  What what = What::kKernel;
  Pattern thing{};
  // kSameKernels
  std::string path{};
};

bool holds(Cmp cmp, double found, double wanted);

}  // namespace epi::analysis
