// SPDX-License-Identifier: Apache-2.0
// `run mlp --like TRACE[:ANNOTATION]` and `run linear --like ...`: finds a block in a trace, runs
// one of the same sizes on this machine in every mode, and prints the trace's kernels and time next
// to the results.
#pragma once

#include "epilogue/cli/run/run_options.h"

namespace epi::cli {

int run_like(const RunFlags& flags);

}  // namespace epi::cli
