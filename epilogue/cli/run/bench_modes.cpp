// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/bench_modes.h"

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/progress.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/ops/hooks.h"

namespace epi::cli {
namespace {

constexpr double kTotalNs = 2.5e9;  // over all rounds of all modes

struct Mode {
  std::string name;
  Forward forward;
  double first_call_ns = 0;
  std::vector<double> times_ns{};  // time per forward, one value per round
};

Mode compiled_mode(const char* name, const CompileOptions& options, const Block& block,
                   const std::vector<Tensor>& inputs) {
  const Compiled compiled(block.function, block.parameters, options);
  Mode mode{name, [=] { compiled(inputs); }};
  const Device device = inputs[0].device();
  const double first_ns = timed(mode.forward, 1, device);
  mode.forward();
  mode.first_call_ns = std::max(first_ns - timed(mode.forward, 1, device), 0.0);
  return mode;
}

std::vector<Mode> compiled_modes(const Block& block, const std::vector<Tensor>& inputs) {
  std::vector<Mode> modes;
  const auto add = [&](const char* name, Fuse fuse, bool graph) {
    modes.push_back(
        compiled_mode(name, {.fuse = fuse, .cache = false, .graph = graph}, block, inputs));
  };
  add("compile pointwise", Fuse::kPointwise, false);
  add("compile epilogue", Fuse::kEpilogue, false);
  if (inputs[0].device() != kCpu) add("compile graph", Fuse::kEpilogue, true);
  return modes;
}

// The packages built with this tool that have a layer for this block and device.
std::vector<Mode> prebuilt_modes(const Block& block, const std::vector<Tensor>& inputs) {
  std::vector<Mode> modes;
  if (block.mlp == nullptr) return modes;
  const Device device = inputs[0].device();
  for (const int64_t version : {1, 2}) {
    const int64_t start_ns = now_ns();
    try {
      const auto kernels = load_kernels(fmt::format("epilogue/glu@{}", version), device, {});
      const auto function = prebuilt_function(block, kernels);
      Mode mode{fmt::format("prebuilt glu@{}", version), [=] { function(inputs); }};
      mode.forward();
      wait_for(device);
      const auto first_ns = static_cast<double>(now_ns() - start_ns);
      mode.first_call_ns = std::max(first_ns - timed(mode.forward, 1, device), 0.0);
      modes.push_back(std::move(mode));
    } catch (const Refused& error) {
      print_error("epilogue: {}\n", error.what());
    } catch (const Error&) {
      continue;  // does not run here, or does not support this activation, bias or sizes
    }
  }
  return modes;
}

void measure_rounds(std::vector<Mode>& modes, Device device, Progress& progress) {
  std::vector<Forward> forwards;
  for (const Mode& mode : modes) forwards.push_back(mode.forward);
  auto times_ns = interleaved_times(forwards, device, kTotalNs, progress);
  for (size_t i = 0; i < modes.size(); ++i) modes[i].times_ns = std::move(times_ns[i]);
}

ModeResult summarize(const Workload& workload, const Mode& mode, const Mode& eager,
                     Progress& progress) {
  const Forward annotated = [&] {
    const RecordFunction range(workload.annotation);
    mode.forward();
  };
  ModeResult result;
  result.mode = mode.name;
  const trace::Trace trace = recorded_forwards(annotated, {0, 0, 1}, progress);
  for (const KernelSum& kernel : sum_kernels(first_forward(trace, workload.annotation))) {
    result.kernels += kernel.count;
    result.kernel_names.push_back(kernel.name);
    result.bytes += kernel.bytes;
    result.flops += kernel.flops;
  }
  result.time_ns = spread_of(mode.times_ns);
  std::vector<double> ratios;
  for (size_t i = 0; i < mode.times_ns.size(); ++i) {
    ratios.push_back(mode.times_ns[i] / eager.times_ns[i]);
  }
  result.ratio = spread_of(std::move(ratios));
  result.saved_ns = saving_of(eager.times_ns, mode.times_ns);
  result.first_call_ns = mode.first_call_ns;
  return result;
}

}  // namespace

double share_of_peak(const ModeResult& result, const Peaks& peaks) {
  const double gemms_ns = static_cast<double>(result.flops) / peaks.flops_per_ns;
  const double bytes_ns = static_cast<double>(result.bytes) / peaks.bytes_per_ns;
  return std::max(gemms_ns, bytes_ns) / result.time_ns.median;
}

std::vector<ModeResult> measure_modes(const Workload& workload) {
  const auto block = workload.make_block();
  throw_if_failed(block);
  const std::vector<Tensor> inputs = workload.make_inputs();
  Progress progress;
  std::vector<Mode> modes;
  modes.push_back({"eager", [&] { block->function(inputs); }});
  for (Mode& mode : compiled_modes(*block, inputs)) modes.push_back(std::move(mode));
  for (Mode& mode : prebuilt_modes(*block, inputs)) modes.push_back(std::move(mode));
  measure_rounds(modes, workload.device, progress);
  std::vector<ModeResult> results;
  for (const Mode& mode : modes) {
    results.push_back(summarize(workload, mode, modes[0], progress));
    // A graph launch has no recorded bytes and FLOPs. Its kernels are those of the mode before it.
    ModeResult& last = results.back();
    if (last.bytes == 0 && results.size() > 1) {
      last.bytes = results[results.size() - 2].bytes;
      last.flops = results[results.size() - 2].flops;
    }
  }
  return results;
}

}  // namespace epi::cli
