// SPDX-License-Identifier: Apache-2.0
// What `epilogue run` runs: the three programs of the tutorial, with their inputs made and their
// memory counted before anything is touched.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/cli/run/run_options.h"
#include "epilogue/compiler/graph/capture.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cli {

// What is run, and compiled, whatever the batch.
struct Block {
  compiler::TensorFunction function;
  std::vector<compiler::NamedTensor> parameters;
  std::shared_ptr<nn::GluMlp> mlp{};  // where it is one: packages have layers for it
};

struct Workload {
  std::string title;       // "GeGLU MLP, x [64, 128, 768], hidden 3072"
  std::string annotation;  // the range around one forward in a trace: "mlp_fwd"
  DType dtype = DType::kF32;
  Device device = kCpu;
  std::string block_name;  // workloads of one name differ in their inputs only
  // Makes the weights (normal numbers, or from --weights).
  std::function<Result<Block>()> make_block;
  std::function<std::vector<Tensor>()> make_inputs;
};

// The block with the kernels of a package in place of its own.
compiler::TensorFunction prebuilt_function(const Block& block, const hub::Kernels& kernels);

// Checks everything that can be checked without allocating: a failure names the file and the rule,
// sizes that do not fit the memory or the weights throw.
Result<Workload> plan_workload(const RunFlags& flags, const RunSizes& sizes, Device device);

}  // namespace epi::cli
