// SPDX-License-Identifier: Apache-2.0
// Operands in a form that kernels of every backend ask for: as they are where strides allow it,
// else copied, by an operator that a trace shows.
#pragma once

#include "epilogue/ops/args.h"
#include "epilogue/tensor/matrix.h"

namespace epi {

// A matrix with strides that a GEMM can read; the copy, if one is needed, stays alive in it.
struct Readable {
  Tensor owner;
  Matrix matrix;
};
Readable readable(const Tensor& x);
// A batch of such matrices: where the first cannot be read in place, none can.
Tensor readable_batch(const Tensor& x);

// `x` with its last dimensions, `normalized`, as one.
Tensor with_flat_rows(const Tensor& x, const Dims& normalized);
// An optional parameter of a norm, row-major; undefined where it is absent.
Tensor dense_parameter(Args args, size_t position);

}  // namespace epi
