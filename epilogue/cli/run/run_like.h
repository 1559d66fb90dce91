// SPDX-License-Identifier: Apache-2.0
// `run mlp --like TRACE[:ANNOTATION]`, `run linear --like ...`: the block of a trace, run here in
// every mode, beside what the trace says that it took.
#pragma once

#include "epilogue/cli/run/run_options.h"

namespace epi::cli {

int run_like(const RunFlags& flags);

}  // namespace epi::cli
