// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "epilogue/compile/codegen/cuda_code.h"
#include "epilogue/compile/gpu/gpu_code.h"

namespace epi::compiler {

Source write_cuda_source(const std::vector<Kernel>& kernels) {
  Source source;
  std::map<std::string, std::string> names;  // by source: the same code has one name
  std::string functions;
  for (const Kernel& kernel : kernels) {
    const auto* pointwise = std::get_if<PointwiseKernel>(&kernel.body);
    if (pointwise == nullptr) {
      source.names.push_back(kernel.name);
      continue;
    }
    auto& name = names[emit_cuda_pointwise(kernel.name, pointwise->code)];
    if (name.empty()) {
      name = fmt::format("{}_{}", kernel.name, names.size() - 1);
      functions += emit_cuda_pointwise(name, pointwise->code);
    }
    source.names.push_back(name);
  }
  if (!functions.empty()) source.ir = cuda_prelude() + functions;
  return source;
}

}  // namespace epi::compiler
