// SPDX-License-Identifier: Apache-2.0
// Operators that work on rows: reductions, softmax, norms, and `cat`.
#include <limits>
#include <string>

#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

// The dimensions to reduce, in increasing order without duplicates. All of them if `dims` is empty.
Dims reduced_dims(std::string_view op, const Tensor& x, const Dims& dims) {
  bool chosen[kMaxRank + 1] = {};
  for (const int64_t dim : dims) {
    const int d = normalize_dim(op, dim, x.dim());
    if (chosen[d]) fail(op, "dimension {} appears twice in {}", d, to_string(dims));
    chosen[d] = true;
  }
  Dims result;
  for (int i = 0; i < x.dim(); ++i) {
    if (dims.empty() || chosen[i]) result.push_back(i);
  }
  return result;
}

Tensor reduced_output(Args args, DType dtype) {
  const Tensor& x = args.tensor(0);
  const Dims& dims = args[1].ints();
  const bool keepdim = args[2].flag();
  Dims shape;
  int next = 0;
  for (int i = 0; i < x.dim(); ++i) {
    const bool is_reduced = next < dims.rank() && dims[next] == i;
    if (is_reduced) ++next;
    if (!is_reduced || keepdim) shape.push_back(is_reduced ? 1 : x.shape()[i]);
  }
  return empty(shape, {dtype, x.device()});
}

void check_norm(std::string_view op, const Tensor& x, const Dims& normalized_shape) {
  check_floating(op, x);
  const int offset = x.dim() - normalized_shape.rank();
  bool fits = offset >= 0 && !normalized_shape.empty();
  for (int i = 0; fits && i < normalized_shape.rank(); ++i) {
    fits = x.shape()[offset + i] == normalized_shape[i];
  }
  if (!fits) {
    fail(op, "the input {} does not end in the normalized shape {}", to_string(x.shape()),
         to_string(normalized_shape));
  }
}

void check_affine(std::string_view op, std::string_view what, const Tensor& x,
                  const Tensor& parameter, const Dims& normalized_shape) {
  if (!parameter.defined()) return;
  check_same_kind(op, x, parameter);
  if (parameter.shape() != normalized_shape) {
    fail(op, "the {} is {}, the normalized shape {}", what, to_string(parameter.shape()),
         to_string(normalized_shape));
  }
}

}  // namespace

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim) {
  check_defined("sum", x);
  return dispatch(Op::kSum, {x, reduced_dims("sum", x, dims), keepdim});
}

Tensor mean(const Tensor& x, const Dims& dims, bool keepdim) {
  check_floating("mean", x);
  return dispatch(Op::kMean, {x, reduced_dims("mean", x, dims), keepdim});
}

Tensor amax(const Tensor& x, const Dims& dims, bool keepdim) {
  check_numeric("amax", x);
  const Dims reduced = reduced_dims("amax", x, dims);
  for (const int64_t d : reduced) {
    if (x.shape()[static_cast<int>(d)] == 0) {
      fail("amax", "dimension {} of {} is empty and has no maximum", d, to_string(x.shape()));
    }
  }
  return dispatch(Op::kAmax, {x, reduced, keepdim});
}

Tensor _safe_softmax(const Tensor& x, int64_t dim) {
  check_floating("_safe_softmax", x);
  return dispatch(Op::kSafeSoftmax, {x, normalize_dim("_safe_softmax", dim, x.dim())});
}

Tensor causal_softmax(const Tensor& x) {
  check_floating("causal_softmax", x);
  if (x.dim() < 2) {
    fail("causal_softmax", "expected at least 2 dimensions, got {}: the shape is {}", x.dim(),
         to_string(x.shape()));
  }
  return dispatch(Op::kCausalSoftmax, {x});
}

Tensor softmax(const Tensor& x, int64_t dim) {
  check_floating("softmax", x);
  return dispatch(Op::kSoftmax, {x, normalize_dim("softmax", dim, x.dim())});
}

Tensor layer_norm(const Tensor& x, const Dims& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
  check_norm("layer_norm", x, normalized_shape);
  check_affine("layer_norm", "weight", x, weight, normalized_shape);
  check_affine("layer_norm", "bias", x, bias, normalized_shape);
  return dispatch(Op::kLayerNorm, {x, normalized_shape, weight, bias, eps});
}

Tensor rms_norm(const Tensor& x, const Dims& normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  check_norm("rms_norm", x, normalized_shape);
  check_affine("rms_norm", "weight", x, weight, normalized_shape);
  const double machine_epsilon = x.dtype() == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                                          : std::numeric_limits<float>::epsilon();
  return dispatch(Op::kRmsNorm, {x, normalized_shape, weight, eps.value_or(machine_epsilon)});
}

Tensor cat(std::span<const Tensor> tensors, int64_t dim) {
  if (tensors.empty()) fail("cat", "expected at least one tensor");
  const Tensor& first = tensors[0];
  check_defined("cat", first);
  if (first.dim() == 0) fail("cat", "zero-dimensional tensors cannot be concatenated");
  const int d = normalize_dim("cat", dim, first.dim());
  for (size_t i = 1; i < tensors.size(); ++i) {
    check_same_kind("cat", first, tensors[i]);
    Dims shape = tensors[i].shape();
    if (shape.rank() == first.dim()) shape[d] = first.shape()[d];
    if (shape != first.shape()) {
      fail("cat", "tensor {} is {}, tensor 0 is {}: they may differ only in dimension {}", i,
           to_string(tensors[i].shape()), to_string(first.shape()), d);
    }
  }
  return dispatch(Op::kCat, {tensors, d});
}

namespace results {

Tensor cat(Args args) {
  const auto tensors = args[0].tensors();
  const auto d = static_cast<int>(args[1].integer());
  Dims shape = tensors[0].shape();
  shape[d] = 0;
  for (const Tensor& tensor : tensors) shape[d] += tensor.shape()[d];
  return empty(shape, {tensors[0].dtype(), tensors[0].device()});
}

Tensor reduced(Args args) { return reduced_output(args, args.tensor(0).dtype()); }

Tensor summed(Args args) {
  const DType dtype = args.tensor(0).dtype();
  return reduced_output(args, is_floating(dtype) ? dtype : DType::kI64);
}

}  // namespace results
}  // namespace epi
