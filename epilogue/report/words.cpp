// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/words.h"

#include <fmt/format.h>

namespace epi::report {

using analysis::AdviceKind;
using analysis::Bound;
using analysis::Confidence;
using analysis::HostActivity;
using analysis::Limiter;
using analysis::Verdict;
using What = analysis::Term::What;

const char* text_of(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::kFuse:
      return "fuse";
    case AdviceKind::kRegenerate:
      return "regenerate";
    case AdviceKind::kGatedMlp:
      return "gated_mlp";
    case AdviceKind::kGraph:
      return "cuda_graph";
    case AdviceKind::kBatch:
      return "batch";
    case AdviceKind::kSync:
      return "sync";
    case AdviceKind::kPageable:
      return "pageable";
    case AdviceKind::kTensorCores:
      return "tensor_cores";
    case AdviceKind::kAlignment:
      return "alignment";
    case AdviceKind::kCopies:
      return "copies";
    case AdviceKind::kWaves:
      return "waves";
    case AdviceKind::kGuards:
      return "guards";
    case AdviceKind::kBreaks:
      return "graph_breaks";
    case AdviceKind::kRecompiles:
      return "recompiles";
    case AdviceKind::kInput:
      return "input";
    case AdviceKind::kAddmm:
      return "addmm";
    case AdviceKind::kAttention:
      return "attention";
    case AdviceKind::kAllocation:
      return "allocation";
    case AdviceKind::kOverlap:
      return "overlap";
    case AdviceKind::kCompiling:
      return "compiling";
  }
  return "";
}

const char* text_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::kNotConclusive:
      return "not conclusive";
    case Confidence::kGuess:
      return "guess";
    case Confidence::kLikely:
      return "likely";
  }
  return "";
}

const char* text_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNo:
      return "no";
    case Verdict::kMaybe:
      return "maybe";
    case Verdict::kLikely:
      return "likely";
  }
  return "";
}

const char* text_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "arithmetic";
    case Bound::kMemory:
      return "memory";
    case Bound::kUnclassified:
      return "unclassified";
    case Bound::kCopies:
      return "copies";
    case Bound::kCommunication:
      return "communication";
    case Bound::kDispatch:
      return "dispatch";
    case Bound::kLaunches:
      return "launches";
    case Bound::kSynchronizing:
      return "synchronisation";
    case Bound::kInput:
      return "input";
    case Bound::kAllocating:
      return "allocation";
    case Bound::kInitializing:
      return "initialisation";
    case Bound::kCompiling:
      return "compilation";
    case Bound::kNotInFile:
      return "not_in_file";
  }
  return "";
}

const char* text_of(analysis::IdleCause cause) {
  switch (cause) {
    case analysis::IdleCause::kNotLaunched:
      return "not_launched";
    case analysis::IdleCause::kLaunchLatency:
      return "on_its_way";
    case analysis::IdleCause::kBetweenKernels:
      return "between_kernels";
    case analysis::IdleCause::kOtherStreams:
      return "other_streams";
    case analysis::IdleCause::kOtherSteps:
      return "other_steps";
    case analysis::IdleCause::kNotInFile:
      return "not_in_file";
    case analysis::IdleCause::kNoLaunch:
      return "no_launch";
  }
  return "";
}

const char* phrase_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute-bound kernels";
    case Bound::kMemory:
      return "memory-bound kernels";
    case Bound::kUnclassified:
      return "kernels of unknown kind";
    case Bound::kCopies:
      return "copies between host and device";
    case Bound::kCommunication:
      return "communication";
    case Bound::kDispatch:
      return "host dispatch";
    case Bound::kLaunches:
      return "kernel launches";
    case Bound::kSynchronizing:
      return "synchronization";
    case Bound::kInput:
      return "data loading";
    case Bound::kAllocating:
      return "allocation";
    case Bound::kInitializing:
      return "start-up";
    case Bound::kCompiling:
      return "compilation";
    case Bound::kNotInFile:
      return "something not in the trace";
  }
  return "";
}

const char* phrase_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::kGpu:
      return "GPU work";
    case Limiter::kHost:
      return "host dispatch and launches";
    case Limiter::kInput:
      return phrase_of(Bound::kInput);
    case Limiter::kSynchronizing:
      return phrase_of(Bound::kSynchronizing);
    case Limiter::kCommunication:
      return phrase_of(Bound::kCommunication);
    case Limiter::kCopies:
      return phrase_of(Bound::kCopies);
    case Limiter::kAllocating:
      return phrase_of(Bound::kAllocating);
    case Limiter::kInitializing:
      return phrase_of(Bound::kInitializing);
    case Limiter::kCompiling:
      return phrase_of(Bound::kCompiling);
    case Limiter::kNotInFile:
      return phrase_of(Bound::kNotInFile);
    case Limiter::kMixed:
      return "mixed";
    case Limiter::kCapture:
      return "graph capture";
    case Limiter::kNotConclusive:
      return "not conclusive";
    case Limiter::kNoDevice:
      return "no device";
  }
  return "";
}

const char* short_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kMemory:
      return "memory";
    case Bound::kUnclassified:
      return "other kernels";
    case Bound::kCopies:
      return "copies";
    case Bound::kCommunication:
      return "communication";
    case Bound::kDispatch:
      return "host dispatch";
    case Bound::kLaunches:
      return "launches";
    case Bound::kSynchronizing:
      return "sync";
    case Bound::kInput:
      return "data loading";
    case Bound::kAllocating:
      return "allocation";
    case Bound::kInitializing:
      return "start-up";
    case Bound::kCompiling:
      return "compilation";
    case Bound::kNotInFile:
      return "not in the trace";
  }
  return "";
}

const char* short_regime_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::kGpu:
      return "GPU-bound";
    case Limiter::kHost:
      return "host-bound";
    case Limiter::kInput:
      return "input-bound";
    case Limiter::kSynchronizing:
      return "sync-bound";
    case Limiter::kCommunication:
      return "comm.-bound";
    case Limiter::kCopies:
      return "copy-bound";
    case Limiter::kAllocating:
      return "alloc.-bound";
    case Limiter::kInitializing:
      return "startup-bound";
    case Limiter::kCompiling:
      return "compile-bound";
    case Limiter::kMixed:
      return "mixed";
    case Limiter::kCapture:
      return "graph capture";
    case Limiter::kNotInFile:
    case Limiter::kNotConclusive:
      return "not conclusive";
    case Limiter::kNoDevice:
      return "CPU only";
  }
  return "";
}

std::string regime_of(Limiter limiter) {
  if (limiter == Limiter::kCommunication) return "communication-bound";
  if (limiter == Limiter::kAllocating) return "allocation-bound";
  return short_regime_of(limiter);
}

const char* short_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::kGpu:
      return "GPU";
    case Limiter::kHost:
      return "host";
    case Limiter::kInput:
      return "input";
    case Limiter::kSynchronizing:
      return "sync";
    case Limiter::kCommunication:
      return "comm.";
    case Limiter::kCopies:
      return "copies";
    case Limiter::kAllocating:
      return "allocation";
    case Limiter::kInitializing:
      return "start-up";
    case Limiter::kCompiling:
      return "compiler";
    case Limiter::kNotInFile:
    case Limiter::kMixed:
    case Limiter::kCapture:
    case Limiter::kNotConclusive:
    case Limiter::kNoDevice:
      return "unknown";
  }
  return "";
}

const char* text_of(HostActivity activity) {
  switch (activity) {
    case HostActivity::kDispatch:
      return "dispatch";
    case HostActivity::kLaunching:
      return "launching";
    case HostActivity::kAllocating:
      return "allocating";
    case HostActivity::kInitializing:
      return "initialising";
    case HostActivity::kSynchronizing:
      return "synchronising";
    case HostActivity::kDataLoading:
      return "data loading";
    case HostActivity::kCompiling:
      return "compiling";
    case HostActivity::kGuards:
      return "guards";
    case HostActivity::kBetweenOps:
      return "between ops";
  }
  return "";
}

const char* phrase_of(HostActivity activity) {
  switch (activity) {
    case HostActivity::kInitializing:
      return "start-up";
    case HostActivity::kSynchronizing:
      return "synchronizing";
    default:
      return text_of(activity);
  }
}

const char* phrase_of(analysis::IdleCause cause) {
  switch (cause) {
    case analysis::IdleCause::kNotLaunched:
      return "not launched yet";
    case analysis::IdleCause::kLaunchLatency:
      return "launch latency";
    case analysis::IdleCause::kBetweenKernels:
    case analysis::IdleCause::kOtherStreams:
    case analysis::IdleCause::kOtherSteps:
      return "gap between two kernels";
    case analysis::IdleCause::kNotInFile:
      return "waiting for something not in the trace";
    case analysis::IdleCause::kNoLaunch:
      return "unknown: launch not in the trace";
  }
  return "";
}

const char* text_of(What what) {
  switch (what) {
    case What::kGemms:
      return "GEMMs";
    case What::kTakes:
      return "take";
    case What::kFlops:
      return "of";
    case What::kTf32Peak:
      return "peak with tf32";
    case What::kShareOfPeak:
      return "of the peak";
    case What::kTiles:
      return "tiles";
    case What::kMultiprocessors:
      return "multiprocessors";
    case What::kFilled:
      return "filled";
    case What::kPlaces:
      return "places in a step";
    case What::kKernels:
      return "kernels";
    case What::kMoves:
      return "move";
    case What::kWouldMove:
      return "would move";
    case What::kMeasuredRate:
      return "at this trace's";
    case What::kDataSheetRate:
      return "at the data sheet's";
    case What::kWouldTake:
      return "would take";
    case What::kBlocks:
      return "blocks in a step";
    case What::kBetweenGemms:
      return "between the GEMMs";
    case What::kCopies:
      return "copies";
    case What::kDeviceWaits:
      return "the device waits";
    case What::kWindow:
      return "of a window of";
    case What::kLaunches:
      return "launches";
    case What::kRowsCouldGrow:
      return "rows could grow, times";
    case What::kCalls:
      return "calls";
    case What::kCpuWaits:
      return "the CPU waits in them";
    case What::kIdleAfter:
      return "the device idles afterwards";
    case What::kLookUps:
      return "look-ups";
    case What::kRegionsInStep:
      return "compiled regions in a step";
    case What::kLookUpTakes:
      return "one look-up takes";
    case What::kRegions:
      return "regions";
    case What::kVariants:
      return "variants of them";
    case What::kCompilations:
      return "compilations";
    case What::kTakesInSteps:
      return "take inside of the steps";
  }
  return "";
}

TermUnit unit_of(What what) {
  switch (what) {
    case What::kGemms:
    case What::kTiles:
    case What::kMultiprocessors:
    case What::kPlaces:
    case What::kKernels:
    case What::kBlocks:
    case What::kCopies:
    case What::kLaunches:
    case What::kRowsCouldGrow:
    case What::kCalls:
    case What::kLookUps:
    case What::kRegionsInStep:
    case What::kRegions:
    case What::kVariants:
    case What::kCompilations:
      return TermUnit::kCount;
    case What::kTakes:
    case What::kWouldTake:
    case What::kBetweenGemms:
    case What::kDeviceWaits:
    case What::kWindow:
    case What::kCpuWaits:
    case What::kIdleAfter:
    case What::kLookUpTakes:
    case What::kTakesInSteps:
      return TermUnit::kTime;
    case What::kMoves:
    case What::kWouldMove:
      return TermUnit::kBytes;
    case What::kMeasuredRate:
    case What::kDataSheetRate:
      return TermUnit::kRate;
    case What::kFlops:
      return TermUnit::kFlops;
    case What::kTf32Peak:
      return TermUnit::kFlopRate;
    case What::kShareOfPeak:
    case What::kFilled:
      return TermUnit::kShare;
  }
  return TermUnit::kCount;
}

std::string rule_note_text(const analysis::RuleResult& result) {
  switch (result.note) {
    case analysis::RuleNote::kNone:
      return "";
    case analysis::RuleNote::kNoSubject:
      return "no annotation or operator has this name";
    case analysis::RuleNote::kNoOtherSubject:
      return fmt::format("{} has no annotation or operator of this name", result.rule.path);
    case analysis::RuleNote::kUnknown:
      return "unknown: the trace lacks shapes or types of some operator";
    case analysis::RuleNote::kLowerBound:
      return "a lower bound: the trace lacks shapes of some operators";
    case analysis::RuleNote::kLongestWaits:
      return "longest GPU waits before:";
    case analysis::RuleNote::kNotCompared:
      return "unknown: no collective is in the files of all ranks of its group";
    case analysis::RuleNote::kMissingKernels:
      break;
  }
  const size_t others = result.missing.size() - 1;
  return fmt::format("missing: {}{}", result.missing.front(),
                     others == 0 ? "" : fmt::format(" and {} more", others));
}

}  // namespace epi::report
