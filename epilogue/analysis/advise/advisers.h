// SPDX-License-Identifier: Apache-2.0
// The advisers: pure functions from the shown step to what would shorten it. What applies to all
// kinds of advice (no GPU estimates for CPU kernels, bounds, alternatives, order, confidence) is
// applied afterwards, in rank_advice.h.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/advise/fusion_estimate.h"
#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/launched_work.h"
#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/base/lazy.h"

namespace epi::analysis {

// The shown step, and what several advisers need.
struct AdviserInput {
  const StepModels& models;
  const TraceIndex& index;
  const StepModel& step;
  std::span<const trace::EventId> work;       // that the step owns
  std::vector<trace::EventId> host_events;    // that start inside it
  const std::optional<Diagnosis>& diagnosis;  // none without device work
  FusionEstimate fusion;
  Blocks blocks;
  std::optional<GpuPeaks> peaks;
  int64_t multiprocessors = 0;               // 0 if the trace does not say
  Lazy<std::vector<LaunchedWork>> launched;  // by event
};

using AdviceList = std::vector<Advice>;
#define EPI_ADVICE(kind, key, title, short_title, effect, needs, adviser) \
  AdviceList advise_##adviser(const AdviserInput& input);
#include "epilogue/analysis/advise/advice.def"
#undef EPI_ADVICE

// The findings of all advisers.
AdviceList find_advice(const AdviserInput& input);

// The operators that launch this work and nothing else, with all that is nested in them.
std::vector<trace::EventId> ops_of_only(const AdviserInput& input,
                                        std::span<const trace::EventId> work);
// True if compiled regions launch more than half of the step's device time.
bool is_compiled(const AdviserInput& input);
// True if CUDA graphs launch more than half of it.
bool replays_graphs(const AdviserInput& input);
// The outermost events of a compiler inside steps.
std::vector<trace::EventId> compilations(const StepModels& models);
// "Torch-Compiled Region: 0/0", "Epilogue-Compiled Region: mlp/0".
bool is_compiled_region(std::string_view name);

}  // namespace epi::analysis
