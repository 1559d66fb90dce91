// SPDX-License-Identifier: Apache-2.0
// What a lesson runs: a block eager, compiled, or with a package's kernels.
#pragma once

#include <optional>

#include "epilogue/cli/run/run_options.h"
#include "epilogue/cli/run/workload.h"
#include "epilogue/compiler/compile.h"

namespace epi::cli {

struct Program {
  compiler::TensorFunction function;
  std::optional<Compiled> compiled;
};

// Compiles nothing yet, and looks nothing up: the first call shows what compiling costs. Loads the
// package.
Program make_program(const RunFlags& flags, const Block& block, Device device);

// The workload of flags that are not lists; throws what is wrong with them.
Workload plan(const RunFlags& flags, Device device);

}  // namespace epi::cli
