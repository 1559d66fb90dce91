// SPDX-License-Identifier: Apache-2.0
// Operands in a layout that the kernels of every backend accept: in place if the strides allow it,
// otherwise copied by an operator that shows up in the trace.
#pragma once

#include <string_view>

#include "epilogue/ops/args.h"
#include "epilogue/tensor/matrix.h"

namespace epi {

// A matrix with strides that a GEMM can read. It owns the copy if one was needed.
struct Readable {
  Tensor owner;
  Matrix matrix;
};
Readable readable(const Tensor& x);
// A batch of such matrices. If the first cannot be read in place, the whole batch is copied.
Tensor readable_batch(const Tensor& x);

// `x` with its last dimensions, `normalized`, flattened into one.
Tensor with_flat_rows(const Tensor& x, const Dims& normalized);
// An optional parameter of a norm in row-major order, or undefined if it is absent.
Tensor dense_parameter(Args args, size_t position);
// A zero-dimensional tensor as one row of one element, for kernels of rows.
Tensor with_a_row(std::string_view op, const Tensor& x);

}  // namespace epi
