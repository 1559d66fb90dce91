// SPDX-License-Identifier: Apache-2.0
// The last lesson: the cost of three batch sizes with fixed sizes, with dynamic rows, and with a
// prebuilt kernel.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/clock.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/cli/run/break_even.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/tour/tour.h"
#include "epilogue/cli/tour/tour_program.h"

namespace epi::cli {
namespace {

constexpr int64_t kTimedCalls = 5;
constexpr double kTotalNs = 1e9;  // over all rounds

struct MeasuredMode {
  ShapeCost cost;
  Forward forward;  // with the first batch size
};

MeasuredMode measure_mode(const char* mode, const RunFlags& flags,
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
  MeasuredMode measured;
  measured.cost.mode = mode;
  int64_t start_ns = now_ns();
  const Program program = make_program(flags, *block, device);
  for (const auto& input : inputs) {
    program.function(input);
    wait_for(device);
    const auto first_ns = static_cast<double>(now_ns() - start_ns);
    const Forward again = [&] { program.function(input); };
    measured.cost.first_calls_ns += std::max(0.0, first_ns - timed(again, kTimedCalls, device));
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
  // Earlier lessons have loaded LLVM and brought the package into the page cache.
  const int64_t first = positive_number("--batch", epilogue.run.batch);
  const std::vector<std::string> batches = {epilogue.run.batch, fmt::format("{}", first + 1),
                                            fmt::format("{}", 2 * first + 1)};
  RunFlags fixed = epilogue.run;
  fixed.dynamic = "off";
  MeasuredMode sizes_fixed = measure_mode("compile, sizes fixed", fixed, batches, device);
  MeasuredMode rows_free = measure_mode("compile, rows free", epilogue.run, batches, device);
  MeasuredMode package = measure_mode("prebuilt", prebuilt.run, batches, device);
  Progress progress;
  const auto times_ns = interleaved_times({sizes_fixed.forward, rows_free.forward, package.forward},
                                          device, kTotalNs, progress);
  ShapeLesson lesson;
  lesson.batches = join(batches, ", ");
  lesson.costs = {sizes_fixed.cost, rows_free.cost, package.cost};
  for (size_t i = 0; i < lesson.costs.size(); ++i) {
    lesson.costs[i].wall_ns = spread_of(times_ns[i]).median;
  }
  const double extra_ns = rows_free.cost.first_calls_ns - package.cost.first_calls_ns;
  lesson.overtakes = break_even(std::max(0.0, extra_ns), saving_of(times_ns[2], times_ns[1]));
  return lesson;
}

}  // namespace epi::cli
