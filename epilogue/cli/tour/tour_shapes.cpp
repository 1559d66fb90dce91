// SPDX-License-Identifier: Apache-2.0
// The last lesson: what three batches cost a compiler that fixes every size, one that leaves the
// rows free, and a prebuilt kernel.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/clock.h"
#include "epilogue/base/join.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/run/paid_back.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/tour/tour.h"
#include "epilogue/cli/tour/tour_program.h"

namespace epi::cli {
namespace {

constexpr int64_t kTimed = 5;
constexpr double kTotalNs = 1e9;  // of all turns

struct Measured {
  ShapeCost cost;
  Forward forward;  // with the first batch
};

Measured measure_mode(const char* mode, const RunFlags& flags,
                      const std::vector<std::string>& batches, Device device) {
  RunFlags eager = flags;
  eager.kernels.clear();
  const auto block = plan(eager, device).make_block();
  throw_if_failed(block);
  std::vector<std::vector<Tensor>> inputs;
  for (const std::string& batch : batches) {
    eager.batch = batch;
    inputs.push_back(plan(eager, device).make_inputs());
  }
  Measured measured;
  measured.cost.mode = mode;
  int64_t start_ns = now_ns();
  const Program program = make_program(flags, *block, device);
  for (const auto& input : inputs) {
    program.function(input);
    wait_for(device);
    const auto first_ns = static_cast<double>(now_ns() - start_ns);
    const Forward again = [&] { program.function(input); };
    measured.cost.first_calls_ns += std::max(0.0, first_ns - timed(again, kTimed, device));
    start_ns = now_ns();
  }
  measured.forward = [program, input = inputs[0]] { program.function(input); };
  if (program.compiled) {
    measured.cost.compiled = static_cast<int64_t>(program.compiled->variants().size());
  }
  return measured;
}

}  // namespace

ShapeLesson run_shapes(const Lesson& epilogue, const Lesson& prebuilt, Device device) {
  // The package is in the page cache, and LLVM is loaded, since earlier lessons ran.
  const int64_t first = positive_number("--batch", epilogue.run.batch);
  const std::vector<std::string> batches = {epilogue.run.batch, fmt::format("{}", first + 1),
                                            fmt::format("{}", 2 * first + 1)};
  RunFlags fixed = epilogue.run;
  fixed.dynamic = "off";
  Measured sizes_fixed = measure_mode("compile, sizes fixed", fixed, batches, device);
  Measured rows_free = measure_mode("compile, rows free", epilogue.run, batches, device);
  Measured package = measure_mode("prebuilt", prebuilt.run, batches, device);
  Progress progress;
  const auto times_ns = times_in_turns({sizes_fixed.forward, rows_free.forward, package.forward},
                                       device, kTotalNs, progress);
  ShapeLesson lesson;
  lesson.batches = join(batches, ", ");
  lesson.costs = {sizes_fixed.cost, rows_free.cost, package.cost};
  for (size_t i = 0; i < lesson.costs.size(); ++i) {
    lesson.costs[i].wall_ns = spread_of(times_ns[i]).median;
  }
  const double more_ns = rows_free.cost.first_calls_ns - package.cost.first_calls_ns;
  lesson.overtakes = paid_back(std::max(0.0, more_ns), saving_of(times_ns[2], times_ns[1]));
  return lesson;
}

}  // namespace epi::cli
