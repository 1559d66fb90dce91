// SPDX-License-Identifier: Apache-2.0
// The lessons of `epilogue tour`, how one is run, and what is said of all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/run_options.h"
#include "epilogue/trace/trace.h"

namespace epi::cli {

struct Lesson {
  std::string mode;  // "mlp eager"
  std::string title;
  std::string expectation;  // what to expect, and why
  RunFlags run;
  std::vector<std::string> rules;  // the guess, as `expect` takes it
  std::string like;                // of the lesson that it is compared with; empty: none
  int hidden_kept = 0;             // hidden activations that need not move, against `like`
  std::string other_batch;         // another number of rows that must not recompile; empty: none
};

struct LessonResult {
  std::string mode;
  std::string trace_path;
  trace::Trace trace;
  std::vector<analysis::RuleResult> rules;
  std::vector<std::string> kernels;  // what each is, and how often it runs
  int64_t kernel_count = 0;          // of one forward
  int64_t bytes = 0;
  double cpu_ns = 0;     // what one forward takes the thread that calls it
  double kernel_ns = 0;  // its kernels added up
  double wall_ns = 0;    // without the recording
  analysis::Limiter limiter = analysis::Limiter::kNoDevice;  // of the recorded forward
  Forward forward;                                           // to run it again
  size_t compared_with = SIZE_MAX;
  double first_call_ns = 0;
  // Nanoseconds by which a forward is shorter than what it is compared with, both taking turns.
  std::optional<Spread> saving;

  // Of forwards; none where it saves nothing, or less than the machine's noise.
};

std::vector<Lesson> tour_lessons(bool quick, Device device);
// Writes its trace into `folder`.
LessonResult run_lesson(const Lesson& lesson, Device device, const std::string& folder,
                        const std::vector<LessonResult>& before);

// The sentences of `compare`: each lesson that is like an earlier one, held against it.
std::vector<std::string> tour_verdicts(const std::vector<LessonResult>& results);
// Whether PyTorch's compiler would help, as `advise` tells of the traces that are not compiled.
std::vector<std::string> tour_advice(const std::vector<LessonResult>& results);

}  // namespace epi::cli
