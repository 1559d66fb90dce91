// SPDX-License-Identifier: Apache-2.0
// View operators. As in ATen, most of them compute sizes and strides and pass them to as_strided,
// which a trace shows as their child. `view` and `_unsafe_view` do not.
#include <algorithm>
#include <limits>

#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/results.h"

namespace epi {
namespace {

// as_strided with the offset moved by `delta` elements.
Tensor restrided(const Tensor& x, const Dims& size, const Dims& stride, int64_t delta = 0) {
  const int64_t offset = x.offset() + delta;
  return dispatch(Op::kAsStrided, {x, size, stride, delta == 0 ? Arg() : Arg(offset)});
}

Tensor viewed(std::string_view op, const Tensor& x, const Dims& shape) {
  const auto strides = view_strides(x.layout(), shape);
  if (!strides) {
    fail(op, "{} with strides {} cannot be viewed as {} without a copy; use reshape()",
         to_string(x.shape()), to_string(x.strides()), to_string(shape));
  }
  return x.with_layout(op, {shape, *strides}, x.offset());
}

}  // namespace

Tensor as_strided(const Tensor& x, const Dims& size, const Dims& stride,
                  std::optional<int64_t> storage_offset) {
  check_defined("as_strided", x);
  if (size.rank() != stride.rank()) {
    fail("as_strided", "got {} sizes and {} strides; the counts must match", size.rank(),
         stride.rank());
  }
  for (const int64_t s : size) {
    if (s < 0) fail("as_strided", "sizes cannot be negative: {}", to_string(size));
  }
  const int64_t offset = storage_offset.value_or(x.offset());
  if (offset < 0) fail("as_strided", "the offset cannot be negative: {}", offset);
  return dispatch(Op::kAsStrided, {x, size, stride, storage_offset ? Arg(offset) : Arg()});
}

Tensor expand(const Tensor& x, const Dims& size) {
  check_defined("expand", x);
  Dims shape = size;
  const int added = shape.rank() - x.dim();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && i >= added) shape[i] = x.shape()[i - added];
    if (shape[i] < 0) fail("expand", "size {} of {} is negative", shape[i], to_string(size));
  }
  broadcast_strides("expand", x.layout(), shape);  // throws if `x` does not broadcast
  return dispatch(Op::kExpand, {x, shape, false});
}

Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  check_defined("narrow", x);
  if (x.dim() == 0) fail("narrow", "a zero-dimensional tensor cannot be narrowed");
  const int d = normalize_dim("narrow", dim, x.dim());
  const int64_t size = x.shape()[d];
  const int64_t first = start < 0 ? start + size : start;
  if (first < 0 || length < 0 || first > size || length > size - first) {
    fail("narrow", "start {} and length {} exceed dimension {} of size {}", start, length, d, size);
  }
  return dispatch(Op::kNarrow, {x, d, first, length});
}

Tensor permute(const Tensor& x, const Dims& dims) {
  check_defined("permute", x);
  Dims order = dims;
  bool seen[kMaxRank] = {};
  if (dims.rank() != x.dim()) {
    fail("permute", "got {} dimensions for a tensor with {}", dims.rank(), x.dim());
  }
  for (int i = 0; i < order.rank(); ++i) {
    const int d = normalize_dim("permute", order[i], x.dim());
    if (seen[d]) fail("permute", "dimension {} appears twice in {}", d, to_string(dims));
    seen[d] = true;
    order[i] = d;
  }
  return dispatch(Op::kPermute, {x, order});
}

Tensor select(const Tensor& x, int64_t dim, int64_t index) {
  check_defined("select", x);
  if (x.dim() == 0) fail("select", "a zero-dimensional tensor has no dimension to select from");
  const int d = normalize_dim("select", dim, x.dim());
  const int64_t size = x.shape()[d];
  if (index < -size || index >= size) {
    fail("select", "index {} is out of range for dimension {} of size {}", index, d, size);
  }
  return dispatch(Op::kSelect, {x, d, index < 0 ? index + size : index});
}

Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  check_defined("slice", x);
  if (x.dim() == 0) fail("slice", "a zero-dimensional tensor cannot be sliced");
  if (step < 1) fail("slice", "the step must be at least 1, not {}", step);
  const int d = normalize_dim("slice", dim, x.dim());
  const int64_t size = x.shape()[d];
  const auto clamped = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t first = clamped(start);
  return dispatch(Op::kSlice, {x, d, first, std::max(first, clamped(end)), step});
}

Tensor squeeze(const Tensor& x) {
  check_defined("squeeze", x);
  return dispatch(Op::kSqueeze, {x});
}

Tensor squeeze(const Tensor& x, int64_t dim) {
  check_defined("squeeze", x);
  return dispatch(Op::kSqueeze, {x, normalize_dim("squeeze", dim, x.dim())});
}

Tensor t(const Tensor& x) {
  check_defined("t", x);
  if (x.dim() > 2) fail("t", "expected at most 2 dimensions, got {}", x.dim());
  return dispatch(Op::kT, {x});
}

Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
  check_defined("transpose", x);
  const int d0 = normalize_dim("transpose", dim0, x.dim());
  const int d1 = normalize_dim("transpose", dim1, x.dim());
  return dispatch(Op::kTranspose, {x, d0, d1});
}

Tensor unsqueeze(const Tensor& x, int64_t dim) {
  check_defined("unsqueeze", x);
  return dispatch(Op::kUnsqueeze, {x, normalize_dim("unsqueeze", dim, x.dim() + 1)});
}

Tensor view(const Tensor& x, const Dims& size) {
  check_defined("view", x);
  return dispatch(Op::kView, {x, inferred_size("view", x, size)});
}

Tensor _unsafe_view(const Tensor& x, const Dims& size) {
  check_defined("_unsafe_view", x);
  return dispatch(Op::kUnsafeView, {x, inferred_size("_unsafe_view", x, size)});
}

namespace results {

Tensor as_strided(Args args) {
  const Tensor& x = args.tensor(0);
  const int64_t offset = args[3].is_none() ? x.offset() : args[3].integer();
  return x.with_layout("as_strided", {args[1].ints(), args[2].ints()}, offset);
}

Tensor expand(Args args) {
  const Tensor& x = args.tensor(0);
  const Dims& shape = args[1].ints();
  return restrided(x, shape, broadcast_strides("expand", x.layout(), shape));
}

Tensor narrow(Args args) {
  const int64_t start = args[2].integer();
  return epi::slice(args.tensor(0), args[1].integer(), start, start + args[3].integer());
}

Tensor permute(Args args) {
  const Tensor& x = args.tensor(0);
  Layout layout;
  for (const int64_t d : args[1].ints()) {
    layout.shape.push_back(x.shape()[static_cast<int>(d)]);
    layout.strides.push_back(x.strides()[static_cast<int>(d)]);
  }
  return restrided(x, layout.shape, layout.strides);
}

Tensor select(Args args) {
  const Tensor& x = args.tensor(0);
  const auto d = static_cast<int>(args[1].integer());
  Layout layout = x.layout();
  layout.shape.erase(d);
  layout.strides.erase(d);
  return restrided(x, layout.shape, layout.strides, args[2].integer() * x.strides()[d]);
}

Tensor slice(Args args) {
  const Tensor& x = args.tensor(0);
  const auto d = static_cast<int>(args[1].integer());
  const int64_t start = args[2].integer();
  const int64_t step = args[4].integer();
  Layout layout = x.layout();
  const int64_t length = args[3].integer() - start;
  layout.shape[d] = length == 0 ? 0 : (length - 1) / step + 1;
  // A single element needs no stride, and the product with a huge step could overflow.
  if (layout.shape[d] > 1) layout.strides[d] *= step;
  return restrided(x, layout.shape, layout.strides, length == 0 ? 0 : start * x.strides()[d]);
}

Tensor squeeze(Args args) {
  const Tensor& x = args.tensor(0);
  Layout layout;
  for (int i = 0; i < x.dim(); ++i) {
    const bool selected = args.size() == 1 || args[1].integer() == i;
    if (selected && x.shape()[i] == 1) continue;
    layout.shape.push_back(x.shape()[i]);
    layout.strides.push_back(x.strides()[i]);
  }
  return restrided(x, layout.shape, layout.strides);
}

Tensor t(Args args) {
  const Tensor& x = args.tensor(0);
  return x.dim() < 2 ? x : epi::transpose(x, 0, 1);
}

Tensor transpose(Args args) {
  const Tensor& x = args.tensor(0);
  if (x.dim() == 0) return x;
  const auto d0 = static_cast<int>(args[1].integer());
  const auto d1 = static_cast<int>(args[2].integer());
  Layout layout = x.layout();
  std::swap(layout.shape[d0], layout.shape[d1]);
  std::swap(layout.strides[d0], layout.strides[d1]);
  return restrided(x, layout.shape, layout.strides);
}

Tensor unsqueeze(Args args) {
  const Tensor& x = args.tensor(0);
  const auto d = static_cast<int>(args[1].integer());
  Layout layout = x.layout();
  // Strides of an empty tensor are arbitrary, and the product could overflow.
  const int64_t stride = d < x.dim() && x.numel() > 0 ? layout.shape[d] * layout.strides[d] : 1;
  layout.shape.insert(d, 1);
  layout.strides.insert(d, stride);
  return restrided(x, layout.shape, layout.strides);
}

Tensor unsafe_view(Args args) { return viewed("_unsafe_view", args.tensor(0), args[1].ints()); }

Tensor view(Args args) { return viewed("view", args.tensor(0), args[1].ints()); }

}  // namespace results
}  // namespace epi
