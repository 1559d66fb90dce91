// SPDX-License-Identifier: Apache-2.0
// A 2-d tensor as a GEMM operand.
#pragma once

#include <cstdint>
#include <optional>

#include "epilogue/tensor/tensor.h"

namespace epi {

// A matrix that a GEMM reads without a copy: row-major, or column-major (`transposed`), with `ld`
// elements between the starts of consecutive rows (or columns).
struct Matrix {
  const std::byte* data = nullptr;
  int64_t ld = 0;
  bool transposed = false;
};
// nullopt if the strides of the 2-d tensor or layout match neither order. The result for a layout
// has no data.
std::optional<Matrix> as_matrix(const Tensor& x);
std::optional<Matrix> as_matrix(const Layout& layout);

// The first matrix of the 3-d tensor `x`.
Tensor first_matrix(const Tensor& x);

}  // namespace epi
