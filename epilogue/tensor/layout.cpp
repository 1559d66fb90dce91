// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/layout.h"

#include <algorithm>
#include <cstdlib>

#include "epilogue/base/error.h"

namespace epi {
namespace {

// The dimensions sorted by descending output stride, without those of size one.
Dims iteration_order(const Dims& shape, const Dims& out_strides) {
  Dims order;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    int at = order.rank();
    while (at > 0 &&
           std::abs(out_strides[static_cast<int>(order[at - 1])]) < std::abs(out_strides[d])) {
      --at;
    }
    order.insert(at, d);
  }
  return order;
}

// The entries of `dims` that `order` selects, or a single 1 if `order` is empty.
Dims select_dims(const Dims& dims, const Dims& order) {
  Dims result;
  for (const int64_t d : order) result.push_back(dims[static_cast<int>(d)]);
  if (order.empty()) result.push_back(1);
  return result;
}

}  // namespace

int64_t numel(const Dims& shape) {
  int64_t count = 1;
  bool overflow = false;
  for (const int64_t size : shape) {
    if (size == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(count, size, &count);
  }
  if (overflow) fail("tensor", "shape {} has more elements than fit in 64 bits", to_string(shape));
  return count;
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    // A size of zero counts as one, so that the other strides stay distinct.
    if (__builtin_mul_overflow(strides[i + 1], std::max<int64_t>(shape[i + 1], 1), &strides[i])) {
      fail("tensor", "shape {} has strides that do not fit in 64 bits", to_string(shape));
    }
  }
  return strides;
}

bool is_contiguous(const Layout& layout) {
  int64_t expected = 1;
  for (int i = layout.rank() - 1; i >= 0; --i) {
    if (layout.shape[i] == 0) return true;
    if (layout.shape[i] == 1) continue;
    if (layout.strides[i] != expected) expected = -1;
    if (expected < 0) break;
    expected *= layout.shape[i];
  }
  return expected >= 0 || numel(layout.shape) == 0;
}

Layout collapse(const Layout& layout) {
  Layout merged;
  for (int i = 0; i < layout.rank(); ++i) {
    const int64_t size = layout.shape[i];
    const int64_t stride = layout.strides[i];
    if (size == 1) continue;
    const int last = merged.rank() - 1;
    if (last >= 0 && merged.strides[last] == stride * size) {
      merged.shape[last] *= size;
      merged.strides[last] = stride;
    } else {
      merged.shape.push_back(size);
      merged.strides.push_back(stride);
    }
  }
  return merged;
}

std::optional<Dims> view_strides(const Layout& layout, const Dims& shape) {
  if (is_contiguous(layout))
    return contiguous_strides(shape);  // the common case, and tensors without elements
  // The size of each run of the collapsed layout must be the product of adjacent sizes in the new
  // shape.
  const Layout runs = collapse(layout);
  Dims strides = Dims::filled(shape.rank(), 1);
  int dim = shape.rank() - 1;
  for (int run = runs.rank() - 1; run >= 0; --run) {
    int64_t covered = 1;
    while (dim >= 0 && covered < runs.shape[run]) {
      strides[dim] = runs.strides[run] * covered;
      covered *= shape[dim--];
    }
    if (covered != runs.shape[run]) return std::nullopt;
  }
  // Dimensions of size one get the stride that row-major order would give them.
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) strides[i] = i + 1 < shape.rank() ? strides[i + 1] * shape[i + 1] : 1;
  }
  return strides;
}

void merge_dims(Dims& shape, std::span<Dims> strides) {
  const Dims order = iteration_order(shape, strides[0]);
  shape = select_dims(shape, order);
  for (Dims& operand : strides) operand = select_dims(operand, order);
  int last = 0;  // the dimension that the next one may merge into
  for (int d = 1; d < shape.rank(); ++d) {
    const bool merges = std::all_of(strides.begin(), strides.end(), [&](const Dims& operand) {
      return operand[last] == operand[d] * shape[d];
    });
    if (!merges) ++last;
    shape[last] = merges ? shape[last] * shape[d] : shape[d];
    for (Dims& operand : strides) operand[last] = operand[d];
  }
  while (shape.rank() > last + 1) {
    shape.erase(last + 1);
    for (Dims& operand : strides) operand.erase(last + 1);
  }
}

Dims broadcast_shapes(std::string_view op, const Dims& a, const Dims& b) {
  const int rank = std::max(a.rank(), b.rank());
  Dims shape = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const int64_t size_a = i <= a.rank() ? a[a.rank() - i] : 1;
    const int64_t size_b = i <= b.rank() ? b[b.rank() - i] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      fail(op, "shapes do not broadcast: {} and {} differ in dimension {} ({} and {})",
           to_string(a), to_string(b), rank - i, size_a, size_b);
    }
    shape[rank - i] = size_a == 1 ? size_b : size_a;
  }
  return shape;
}

Dims broadcast_strides(std::string_view op, const Layout& layout, const Dims& shape) {
  const int added = shape.rank() - layout.rank();
  if (added < 0) {
    fail(op, "{} does not broadcast to {}: it has more dimensions", to_string(layout.shape),
         to_string(shape));
  }
  Dims strides = Dims::filled(shape.rank(), 0);
  for (int i = 0; i < layout.rank(); ++i) {
    if (layout.shape[i] == shape[added + i]) {
      strides[added + i] = layout.strides[i];
    } else if (layout.shape[i] != 1) {
      fail(op, "{} does not broadcast to {}: dimension {} is {}, not {}", to_string(layout.shape),
           to_string(shape), i, layout.shape[i], shape[added + i]);
    }
  }
  return strides;
}

Extent extent(const Layout& layout) {
  if (numel(layout.shape) == 0) return {};
  Extent result{0, 1};
  for (int i = 0; i < layout.rank(); ++i) {
    int64_t span = 0;
    int64_t& side = layout.strides[i] < 0 ? result.begin : result.end;
    if (__builtin_mul_overflow(layout.shape[i] - 1, layout.strides[i], &span) ||
        __builtin_add_overflow(side, span, &side)) {
      fail("tensor", "shape {} with strides {} spans more than fits in 64 bits",
           to_string(layout.shape), to_string(layout.strides));
    }
  }
  return result;
}

int64_t element_offset(const Layout& layout, int64_t index) {
  int64_t offset = 0;
  for (int d = layout.rank() - 1; d >= 0; --d) {
    offset += index % layout.shape[d] * layout.strides[d];
    index /= layout.shape[d];
  }
  return offset;
}

int normalize_dim(std::string_view op, int64_t dim, int rank) {
  // A 0-d tensor accepts 0 and -1, like in ATen.
  const int64_t bound = std::max(rank, 1);
  if (dim < -bound || dim >= bound) {
    fail(op, "dimension {} is out of range [{}, {}] for a tensor with {} dimensions", dim, -bound,
         bound - 1, rank);
  }
  return static_cast<int>(dim < 0 ? dim + bound : dim);
}

}  // namespace epi
