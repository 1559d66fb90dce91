// SPDX-License-Identifier: Apache-2.0
// The lessons of `epilogue tour`: their definition, how one runs, and the conclusions printed after
// the last one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/cli/run/break_even.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/run_options.h"
#include "epilogue/verbs/traces.h"

namespace epi::cli {

struct Lesson {
  std::string mode;  // "mlp eager"
  std::string title;
  std::string expectation;  // the expected result, and why
  RunFlags run;
  std::vector<std::string> rules;  // the expectation as rules of `expect`
  std::string baseline;            // mode of the lesson to compare with; empty: none
  int hidden_moves_saved = 0;      // fewer reads and writes of hidden activations than `baseline`
  std::string other_batch;         // another batch size that must not recompile; empty: none
  std::string same_kernels_as;     // mode of a lesson with the same kernel names; empty: none
  bool raw_names = false;          // also print the kernel names as recorded
};

// Calls of the CUDA occupancy API: how many thread blocks of a kernel fit on an SM.
struct OccupancyQueries {
  int64_t count = 0;               // in one forward
  std::string name{};              // of the first call
  std::vector<std::string> ops{};  // operators that make the calls
};

struct LessonResult {
  std::string mode;
  std::string trace_path;
  std::shared_ptr<const verbs::LoadedTrace> loaded;  // the trace
  std::vector<analysis::RuleResult> rules;
  std::vector<std::string> kernels;       // decoded names, with the number of calls
  std::vector<std::string> kernel_names;  // as recorded; distinct, in order
  int64_t kernel_count = 0;               // per forward
  int64_t bytes = 0;
  double cpu_ns = 0;     // CPU time of one forward on the calling thread
  double kernel_ns = 0;  // sum of its kernels
  double wall_ns = 0;    // without recording
  analysis::Limiter limiter = analysis::Limiter::kNoDevice;  // of the recorded forward
  OccupancyQueries occupancy;
  Forward forward;             // to run it again
  size_t baseline = SIZE_MAX;  // index of the result to compare with
  double first_call_ns = 0;    // extra time of the first call
  // Nanoseconds saved per forward compared with the baseline, over interleaved rounds.
  std::optional<Spread> saving;
};

// Forwards in a lesson's trace.
inline constexpr int64_t kRecordedForwards = 21;

// The cost of one way to run the MLP over several batch sizes.
struct ShapeCost {
  std::string mode;
  double first_calls_ns = 0;  // extra time of the first calls of all batch sizes
  int64_t compiled = 0;       // number of compilations
  double wall_ns = 0;         // time per forward with the first batch size, warm
};
// The last lesson: compiled code or a prebuilt kernel.
struct ShapeLesson {
  std::string batches;  // "1, 3, 5"
  std::vector<ShapeCost> costs;
  BreakEven overtakes;  // forwards after which compiled code is ahead of the prebuilt kernel
};
ShapeLesson run_shapes(const Lesson& epilogue, const Lesson& prebuilt, Device device);

std::vector<Lesson> tour_lessons(bool quick, Device device);
// The file in `folder` that the lesson's trace is written to.
std::string trace_path(const Lesson& lesson, const std::string& folder);
// Runs and records one lesson, checks its rules and writes its trace into `folder`. `before` are
// the results of the earlier lessons.
LessonResult run_lesson(const Lesson& lesson, Device device, const std::string& folder,
                        const std::vector<LessonResult>& before);
// Measures forwards without recording, in interleaved rounds over the modes of each block.
void time_forwards(std::vector<LessonResult>& results, Device device);

// One sentence of `compare` for each lesson that has a baseline.
std::vector<std::string> tour_verdicts(const std::vector<LessonResult>& results);
// One sentence of `advise` for each eager lesson: whether compiling would help.
std::vector<std::string> tour_advice(const std::vector<LessonResult>& results);

}  // namespace epi::cli
