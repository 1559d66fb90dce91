// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/matrix.h"

#include <algorithm>

namespace epi {

std::optional<Matrix> as_matrix(const Tensor& x) {
  auto matrix = as_matrix(x.layout());
  if (matrix) matrix->data = x.raw_data();
  return matrix;
}

std::optional<Matrix> as_matrix(const Layout& layout) {
  const int64_t rows = layout.shape[0];
  const int64_t columns = layout.shape[1];
  const int64_t row_stride = layout.strides[0];
  const int64_t column_stride = layout.strides[1];
  // The stride of a dimension of size one is meaningless.
  if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1)) {
    return Matrix{nullptr,
                  rows == 1 ? std::max<int64_t>(columns, 1) : std::max<int64_t>(row_stride, 1),
                  false};
  }
  if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1)) {
    return Matrix{nullptr, columns == 1 ? std::max<int64_t>(rows, 1) : column_stride, true};
  }
  return std::nullopt;
}

Tensor first_matrix(const Tensor& x) {
  const Layout matrix{{x.size(1), x.size(2)}, {x.stride(1), x.stride(2)}};
  return x.with_layout("bmm", matrix, x.offset());
}

}  // namespace epi
