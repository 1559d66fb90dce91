// SPDX-License-Identifier: Apache-2.0
// One forward of a trace as people read it: operators in order, with their depth and inputs, and
// the kernels that each of them ran.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::cli {

struct ForwardKernel {
  std::string name;
  int64_t bytes = 0;
  int64_t flops = 0;
  int64_t launched_ns = 0;  // on the CPU, where it starts
  int64_t dur_ns = 0;
};

struct ForwardOp {
  std::string name;  // "aten::mm"
  int64_t start_ns = 0;
  int depth = 0;
  std::vector<std::string> inputs;     // "[64,128,768]/(98304,768,1)" for each tensor
  std::vector<ForwardKernel> kernels;  // run by this op itself, not by those below it
};

// A kernel's name without what it returns and takes: "epi::cuda::pointwise<...>".
std::string_view short_name(std::string_view kernel);

// The operators under the first range named `annotation`.
std::vector<ForwardOp> first_forward(const trace::Trace& trace, std::string_view annotation);

}  // namespace epi::cli
