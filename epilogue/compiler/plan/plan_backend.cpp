// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/plan_backend.h"

#include "epilogue/base/error.h"

namespace epi::compiler {

std::unique_ptr<const PlanBackend> make_backend(const Graph& graph,
                                                const std::vector<Kernel>& kernels, Device device,
                                                UseCache cache) {
  return device == kCpu ? make_cpu_backend(graph, kernels, cache)
                        : make_gpu_backend(graph, kernels, device.index, cache);
}

StepPtr PlanBackend::bind_joined(GemmBinding /*first*/, GemmBinding /*second*/) const {
  EPI_CHECK(false);  // this backend joins nothing
  return nullptr;
}

bool is_capturing(Device device) { return device != kCpu && gpu_is_capturing(device.index); }

}  // namespace epi::compiler
