// SPDX-License-Identifier: Apache-2.0
// The three workloads of `epilogue run`: linear, mlp and matmul-add. Planning checks flags, weights
// and memory before anything is allocated.
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

// The function to run or compile, for any batch, and its parameters.
struct Block {
  compiler::TensorFunction function;
  std::vector<compiler::NamedTensor> parameters;
  std::shared_ptr<nn::GluMlp> mlp{};  // null unless this is an MLP; package layers need it
};

struct Workload {
  std::string title;          // "GeGLU MLP, x [64, 128, 768], hidden 3072"
  std::string annotation;     // name of the range around a forward in a trace: "mlp_fwd"
  DType dtype = DType::kF32;  // of the input and the result
  Device device = kCpu;
  DType gemm_dtype = DType::kF32;  // in which the GEMMs multiply: i8 if they quantize the input
  std::string block_name;          // workloads with the same name differ only in their inputs
  // Creates the weights: normally distributed, or loaded from --weights.
  std::function<Result<Block>()> make_block;
  std::function<std::vector<Tensor>()> make_inputs;
};

// The block's MLP, run with the kernels of a package. `block.mlp` must not be null.
compiler::TensorFunction prebuilt_function(const Block& block, const hub::Kernels& kernels);

// Whether the weights are int8, by --int8 or in the checkpoint. False for a checkpoint that cannot
// be read, which planning reports.
bool has_int8_weights(const RunFlags& flags);

// Checks everything that can be checked without allocating. Returns a failure for an unusable
// weights file. Throws `Error` for sizes that do not fit into memory or do not match the weights.
Result<Workload> plan_workload(const RunFlags& flags, const RunSizes& sizes, Device device);

}  // namespace epi::cli
