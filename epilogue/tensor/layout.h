// SPDX-License-Identifier: Apache-2.0
// Shape and strides, and the functions on them that views and kernels share. Strides count elements
// and may be zero (broadcast) or negative.
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

// Product of the sizes. Throws if it does not fit in 64 bits. The empty shape has one element.
int64_t numel(const Dims& shape);

// Row-major strides of `shape`.
Dims contiguous_strides(const Dims& shape);
// Row-major and dense. The strides of dimensions of size one are ignored.
bool is_contiguous(const Layout& layout);

// The strides that view the same elements, in order, as `shape`, or nullopt if that needs a copy.
std::optional<Dims> view_strides(const Layout& layout, const Dims& shape);

// Merges adjacent dimensions that can be iterated as one. The element order is unchanged. O(rank).
Layout collapse(const Layout& layout);

// Simplifies the loop nest in which several operands iterate over `shape`, operand i with
// `strides[i]`. The first operand is the output. Drops dimensions of size one, sorts the others by
// descending output stride, and merges adjacent dimensions that every operand can iterate as one.
// At least one dimension remains.
void merge_dims(Dims& shape, std::span<Dims> strides);

// The common shape according to the broadcasting rules. Throws for `op` if there is none.
Dims broadcast_shapes(std::string_view op, const Dims& a, const Dims& b);
// The strides of `layout` broadcast to the larger `shape`: zero along broadcast dimensions.
Dims broadcast_strides(std::string_view op, const Layout& layout, const Dims& shape);

// The range of elements that `layout` accesses, relative to its offset: the first one and one past
// the last one.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
};
Extent extent(const Layout& layout);

// The offset of element `index`, counted in row-major order, relative to the first element.
int64_t element_offset(const Layout& layout, int64_t index);

// Maps `dim` to [0, rank). Negative values count from the end. Throws for `op` if it is out of
// range.
int normalize_dim(std::string_view op, int64_t dim, int rank);

}  // namespace epi
