// SPDX-License-Identifier: Apache-2.0
// The kernels of the CUDA backend, one function for an operator, in the file named after its group.
// Each starts its work on the stream that is current on the output's device.
#pragma once

#include "epilogue/ops/args.h"
#include "epilogue/tensor/device_memory.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

// pointwise.cpp
void add(Args args, const Tensor& out);
void div(Args args, const Tensor& out);
void exp(Args args, const Tensor& out);
void gelu(Args args, const Tensor& out);
void mul(Args args, const Tensor& out);
void neg(Args args, const Tensor& out);
void relu(Args args, const Tensor& out);
void sigmoid(Args args, const Tensor& out);
void silu(Args args, const Tensor& out);
void sub(Args args, const Tensor& out);
void tanh(Args args, const Tensor& out);

// copy.cpp
void cat(Args args, const Tensor& out);
void copy_(Args args, const Tensor& out);

// product.cpp
void addmm(Args args, const Tensor& out);
void addmm_activation(Args args, const Tensor& out);
void bmm(Args args, const Tensor& out);
void mm(Args args, const Tensor& out);

// reduce.cpp
void amax(Args args, const Tensor& out);
void mean(Args args, const Tensor& out);
void sum(Args args, const Tensor& out);

// rows.cpp
void layer_norm(Args args, const Tensor& out);
void rms_norm(Args args, const Tensor& out);
void softmax(Args args, const Tensor& out);

}  // namespace epi::cuda
