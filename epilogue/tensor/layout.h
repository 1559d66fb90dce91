// SPDX-License-Identifier: Apache-2.0
// Shape and strides, and the arithmetic on them that views and kernels share. Strides count
// elements and may be zero (broadcast) or negative.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "epilogue/tensor/dims.h"

namespace epi {

struct Layout {
  Dims shape;
  Dims strides;

  int rank() const { return shape.rank(); }
  bool operator==(const Layout&) const = default;
};

// Product of the sizes; throws where it does not fit 64 bits. The empty shape has one element.
int64_t numel(const Dims& shape);

// Row-major strides of `shape`.
Dims contiguous_strides(const Dims& shape);
// Row-major and dense, whatever the strides of dimensions of size one.
bool is_contiguous(const Layout& layout);

// The strides that show the same elements, in order, in `shape`; none where that needs a copy.
std::optional<Dims> view_strides(const Layout& layout, const Dims& shape);

// Merges neighbouring dimensions that can be walked as one; element order is unchanged. O(rank).
Layout collapse(const Layout& layout);

// `shape` as several operands walk it, operand i by `strides[i]`, the first being the output: sizes
// of one are left out, dimensions ordered by the first one's strides, falling, and neighbours
// merged that every operand walks as one. At least one dimension is left.
void merge_dims(Dims& shape, std::span<Dims> strides);

// The common shape by the broadcasting rules; throws for `op` where there is none.
Dims broadcast_shapes(std::string_view op, const Dims& a, const Dims& b);
// The strides of `layout` seen in the larger `shape`: zero along broadcast dimensions.
Dims broadcast_strides(std::string_view op, const Layout& layout, const Dims& shape);

// The first and one past the last element that `layout` touches, relative to its offset.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
};
Extent extent(const Layout& layout);

// Where element `index`, counted in row-major order, lies relative to the first.
int64_t element_offset(const Layout& layout, int64_t index);

// `dim` in [0, rank), counted from the end where negative; throws for `op` otherwise.
int normalize_dim(std::string_view op, int64_t dim, int rank);

}  // namespace epi
