// SPDX-License-Identifier: Apache-2.0
// A call of argmax or topk as backends see it: both operands have the same number of dimensions, at
// least one, and differ only in `dim`.
#pragma once

#include "epilogue/ops/args.h"
#include "epilogue/tensor/tensor.h"

namespace epi {

struct RankCall {
  Tensor x;
  Tensor out;  // of indices
  int dim = 0;
  bool largest = true;
};

RankCall argmax_call(Args args, const Tensor& out);
RankCall topk_call(Args args, const Tensor& out);

}  // namespace epi
