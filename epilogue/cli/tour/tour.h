// SPDX-License-Identifier: Apache-2.0
// The lessons of `epilogue tour`, how one is run, and what is said of all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/cli/run/paid_back.h"
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
  std::string same_kernels_as;     // a lesson with kernels of the same names; empty: none
  bool raw_names = false;          // kernels are shown by their names, too
};

// Calls that ask how many blocks of a kernel fit on the GPU at once.
struct OccupancyQueries {
  int64_t count = 0;               // of one forward
  std::string name{};              // of the first
  std::vector<std::string> ops{};  // that make them
};

struct LessonResult {
  std::string mode;
  std::string trace_path;
  trace::Trace trace;
  std::vector<analysis::RuleResult> rules;
  std::vector<std::string> kernels;       // what each is, and how often it runs
  std::vector<std::string> kernel_names;  // as the trace has them, in order, each once
  int64_t kernel_count = 0;               // of one forward
  int64_t bytes = 0;
  double cpu_ns = 0;     // what one forward takes the thread that calls it
  double kernel_ns = 0;  // its kernels added up
  double wall_ns = 0;    // without the recording
  analysis::Limiter limiter = analysis::Limiter::kNoDevice;  // of the recorded forward
  OccupancyQueries occupancy;
  Forward forward;  // to run it again
  size_t compared_with = SIZE_MAX;
  double first_call_ns = 0;  // what it adds to a forward
  // Nanoseconds by which a forward is shorter than what it is compared with, both taking turns.
  std::optional<Spread> saving;
};

// Forwards in the trace of a lesson.
inline constexpr int64_t kRecordedForwards = 21;

// A way to run the MLP, over batches that change.
struct ShapeCost {
  std::string mode;
  double first_calls_ns = 0;  // of all batches, less a forward of each
  int64_t compiled = 0;       // how often code was made
  double wall_ns = 0;         // of a forward with the first batch, warm
};
// The last lesson: compile, or take a prebuilt kernel?
struct ShapeLesson {
  std::string batches;  // "1, 3, 5"
  std::vector<ShapeCost> costs;
  PaidBack overtakes;  // after so many forwards compiled code is ahead of the prebuilt kernel
};
ShapeLesson run_shapes(const Lesson& epilogue, const Lesson& prebuilt, Device device);

std::vector<Lesson> tour_lessons(bool quick, Device device);
// Writes its trace into `folder`.
LessonResult run_lesson(const Lesson& lesson, Device device, const std::string& folder,
                        const std::vector<LessonResult>& before);
// Fills in what forwards take without the recording: each block's modes take turns.
void time_in_turns(std::vector<LessonResult>& results, Device device);

// The sentences of `compare`: each lesson that is like an earlier one, held against it.
std::vector<std::string> tour_verdicts(const std::vector<LessonResult>& results);
// Whether compiling helps, as `advise` tells of the traces that are not compiled.
std::vector<std::string> tour_advice(const std::vector<LessonResult>& results);

}  // namespace epi::cli
