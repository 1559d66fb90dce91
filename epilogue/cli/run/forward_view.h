// SPDX-License-Identifier: Apache-2.0
// One forward of a trace as a list of operators in order, each with its depth, its inputs and the
// kernels it launched.
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
  int64_t launched_ns = 0;  // start of the launch call; of the kernel for CPU kernels
  int64_t dur_ns = 0;
};

struct ForwardOp {
  std::string name;  // "aten::mm"
  int64_t start_ns = 0;
  int depth = 0;
  std::vector<std::string> inputs;     // "[64,128,768]/(98304,768,1)" for each tensor
  std::vector<ForwardKernel> kernels;  // launched by this op, not by its children
};

// A kernel's name without return type and parameters: "epi::cuda::pointwise<...>".
std::string_view short_name(std::string_view kernel);

// The operators inside the first range named `annotation`.
std::vector<ForwardOp> first_forward(const trace::Trace& trace, std::string_view annotation);

}  // namespace epi::cli
