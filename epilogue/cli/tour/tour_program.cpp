// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/tour/tour_program.h"

#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/run/hub_options.h"

namespace epi::cli {

Program make_program(const RunFlags& flags, const Block& block, Device device) {
  if (!flags.kernels.empty()) {
    return {prebuilt_function(block, load_kernels(flags.kernels, device, {})), {}};
  }
  if (auto options = parse_compile(flags)) {
    options->cache = false;
    const Compiled compiled(block.function, block.parameters, *options);
    return {compiled, compiled};
  }
  return {block.function, {}};
}

Workload plan(const RunFlags& flags, Device device) {
  const auto sizes = expand_sizes(flags);
  auto workload = plan_workload(flags, sizes.at(0), device);
  throw_if_failed(workload);
  return std::move(*workload);
}

}  // namespace epi::cli
