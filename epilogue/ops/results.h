// SPDX-License-Identifier: Apache-2.0
// The result functions of the operator table (op.cpp), grouped by source file: views, the values of
// composites, and the outputs that kernels fill.
#pragma once

#include "epilogue/ops/args.h"
#include "epilogue/tensor/tensor.h"

namespace epi::results {

// view_ops.cpp
Tensor as_strided(Args args);
Tensor expand(Args args);
Tensor narrow(Args args);
Tensor permute(Args args);
Tensor select(Args args);
Tensor slice(Args args);
Tensor squeeze(Args args);
Tensor t(Args args);
Tensor transpose(Args args);
Tensor unsqueeze(Args args);
Tensor unsafe_view(Args args);
Tensor view(Args args);

// copy_ops.cpp
Tensor clone(Args args);
Tensor contiguous(Args args);
Tensor copy_(Args args);
Tensor flatten(Args args);
Tensor reshape(Args args);
Tensor to(Args args);

// matmul_ops.cpp
Tensor addmm(Args args);
Tensor bmm(Args args);
Tensor linear(Args args);
Tensor matmul(Args args);
Tensor mm(Args args);

// int8_ops.cpp
Tensor int8_linear(Args args);

// pointwise_ops.cpp
Tensor pointwise(Args args);
Tensor like_input(Args args);

// row_ops.cpp
Tensor cat(Args args);
Tensor reduced(Args args);
Tensor summed(Args args);

// rank_ops.cpp
Tensor argmax(Args args);
Tensor topk(Args args);

// index_ops.cpp
Tensor embedding(Args args);
Tensor gather(Args args);
Tensor index_select(Args args);
Tensor where(Args args);

// attention_ops.cpp
Tensor scaled_dot_product_attention(Args args);

}  // namespace epi::results
