// SPDX-License-Identifier: Apache-2.0
// The function that a lesson runs: a block in eager mode, compiled, or with the kernels of a
// package.
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

// Loads the package, if any. Compiling is left to the first call and the code cache is off, so that
// the first call shows the full cost of compiling.
Program make_program(const RunFlags& flags, const Block& block, Device device);

// The workload of flags without lists. Throws `Error` for invalid flags.
Workload plan(const RunFlags& flags, Device device);

}  // namespace epi::cli
