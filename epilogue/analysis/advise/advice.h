// SPDX-License-Identifier: Apache-2.0
// One piece of advice: what would make a step shorter, by how much, and how that was estimated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/fusion_estimate.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

enum class AdviceKind : uint8_t {
  kFuse,         // several kernels into a generated one
  kRegenerate,   // one kernel that generated code would beat
  kGatedMlp,     // gate and up in one product, the activation in its epilogue
  kGraph,        // replay launches as a CUDA graph
  kBatch,        // more rows for each launch
  kSync,         // a call that waits for the device
  kPageable,     // copies from memory that is not pinned
  kTensorCores,  // f32 products without tf32
  kAlignment,    // sizes that tensor cores cannot load at once
  kCopies,       // copies that only change the layout
  kWaves,        // tiles that leave a part of the GPU idle
  kGuards,       // looking up compiled code
  kBreaks,       // several compiled regions in a step
  kRecompiles,   // several variants of one region
  kCompiling,    // compiling inside of the steps
};
// "fuse", "gated_mlp", ...: as in JSON.
const char* text_of(AdviceKind kind);

// Likely: from recorded sizes and times. A guess: from a rule of thumb.
enum class Sureness : uint8_t { kGuess, kLikely };
const char* text_of(Sureness sureness);

// A number of the reckoning.
struct Term {
  enum class Unit : uint8_t { kCount, kTime, kBytes, kRate, kFlops, kFlopRate, kShare };
  const char* label;
  double value;
  Unit unit;
};

struct Advice {
  AdviceKind kind = AdviceKind::kFuse;
  std::vector<std::string> about;  // operators, or the sizes of a product
  bool on_device = true;           // it saves the device's work; else its waiting for the CPU
  Estimate saving_ns;              // a step
  Sureness sureness = Sureness::kGuess;
  std::vector<Term> terms;
  std::vector<trace::EventId> events;
};

}  // namespace epi::analysis
