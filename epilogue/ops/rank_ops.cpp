// SPDX-License-Identifier: Apache-2.0
// Operators that rank the elements of rows: argmax and topk. One kernel finds the indices; the
// values of topk are gathered.
#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {

Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  check_numeric("argmax", x);
  if (!dim) {
    if (x.numel() == 0) fail("argmax", "{} is empty and has no maximum", to_string(x.shape()));
    return dispatch(Op::kArgmax, {x, Arg(), keepdim});
  }
  const int d = normalize_dim("argmax", *dim, x.dim());
  if (x.dim() > 0 && x.shape()[d] == 0) {
    fail("argmax", "dimension {} of {} is empty and has no maximum", d, to_string(x.shape()));
  }
  return dispatch(Op::kArgmax, {x, d, keepdim});
}

TopK topk(const Tensor& x, int64_t k, int64_t dim, bool largest, bool sorted) {
  check_numeric("topk", x);
  const int d = normalize_dim("topk", dim, x.dim());
  const int64_t size = x.dim() == 0 ? 1 : x.shape()[d];
  if (k < 0 || k > size) {
    fail("topk", "k is {}, and dimension {} of {} has {} elements", k, d, to_string(x.shape()),
         size);
  }
  const Tensor indices = dispatch(Op::kTopk, {x, k, d, largest, sorted});
  return {gather(x, d, indices), indices};
}

namespace results {

Tensor argmax(Args args) {
  const Tensor& x = args.tensor(0);
  const bool keepdim = args[2].flag();
  Dims shape;
  for (int i = 0; i < x.dim(); ++i) {
    const bool is_reduced = args[1].is_none() || args[1].integer() == i;
    if (!is_reduced || keepdim) shape.push_back(is_reduced ? 1 : x.shape()[i]);
  }
  return empty(shape, {DType::kI64, x.device()});
}

Tensor topk(Args args) {
  const Tensor& x = args.tensor(0);
  Dims shape = x.shape();
  if (x.dim() > 0) shape[static_cast<int>(args[2].integer())] = args[1].integer();
  return empty(shape, {DType::kI64, x.device()});
}

}  // namespace results
}  // namespace epi
