// SPDX-License-Identifier: Apache-2.0
// The kernels of the CPU backend, one function per operator, grouped by source file.
#pragma once

#include "epilogue/ops/args.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/op.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cpu {

// cpu_pointwise.cpp: every operator of pointwise/operators.def.
void run_pointwise(Op op, Args args, const Tensor& out);
template <Op kOp>
void pointwise_kernel(Args args, const Tensor& out) {
  run_pointwise(kOp, args, out);
}

// cpu_copy.cpp
void cat(Args args, const Tensor& out);
void copy_(Args args, const Tensor& out);

// cpu_index.cpp
void gather(Args args, const Tensor& out);
void index_select(Args args, const Tensor& out);
void where(Args args, const Tensor& out);

// cpu_int8.cpp
void int8_mm(Args args, const Tensor& out);

// cpu_matmul.cpp
void addmm(Args args, const Tensor& out);
void addmm_activation(Args args, const Tensor& out);
void bmm(Args args, const Tensor& out);
void mm(Args args, const Tensor& out);

// cpu_rank.cpp
void argmax(Args args, const Tensor& out);
void topk(Args args, const Tensor& out);

// cpu_reduce.cpp
void amax(Args args, const Tensor& out);
void mean(Args args, const Tensor& out);
void sum(Args args, const Tensor& out);

// normalize.cpp
void causal_softmax(Args args, const Tensor& out);
void layer_norm(Args args, const Tensor& out);
void rms_norm(Args args, const Tensor& out);
void safe_softmax(Args args, const Tensor& out);
void softmax(Args args, const Tensor& out);

}  // namespace epi::cpu
