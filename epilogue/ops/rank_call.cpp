// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/rank_call.h"

#include "epilogue/ops/functional.h"
#include "epilogue/ops/readable.h"

namespace epi {

RankCall argmax_call(Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const bool is_flat = args[1].is_none();
  const Tensor rows = is_flat ? reshape(x, {x.numel()}) : with_a_row("argmax", x);
  const int dim = is_flat ? 0 : static_cast<int>(args[1].integer());
  Dims shape = rows.shape();
  shape[dim] = 1;
  // The output is row-major, with or without the dimension of size one.
  const Layout kept{shape, contiguous_strides(shape)};
  return {rows, out.with_layout("argmax", kept, out.offset()), dim, true};
}

RankCall topk_call(Args args, const Tensor& out) {
  return {with_a_row("topk", args.tensor(0)), with_a_row("topk", out),
          static_cast<int>(args[2].integer()), args[3].flag()};
}

}  // namespace epi
