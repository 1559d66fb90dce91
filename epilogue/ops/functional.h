// SPDX-License-Identifier: Apache-2.0
// The operators as functions, with ATen's names and argument order. Each checks its arguments and
// throws `Error`, which names the op, the rule and the numbers. The operands of a call share dtype
// and device. There is no implicit promotion: convert with `to`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "epilogue/ops/args.h"
#include "epilogue/ops/op.h"
#include "epilogue/tensor/tensor.h"

namespace epi {

// --- Views: the same storage with another layout. They never copy or launch a kernel. -----------

// Uses the given sizes, strides and offset, which must stay inside the storage.
Tensor as_strided(const Tensor& x, const Dims& size, const Dims& stride,
                  std::optional<int64_t> storage_offset = std::nullopt);
// Broadcasts dimensions of size one; -1 keeps a size.
Tensor expand(const Tensor& x, const Dims& size);
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);
Tensor permute(const Tensor& x, const Dims& dims);
Tensor select(const Tensor& x, int64_t dim, int64_t index);
// Bounds are clamped to the dimension, as in Python; `end` of INT64_MAX means all; `step` >= 1.
Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
Tensor squeeze(const Tensor& x);
Tensor squeeze(const Tensor& x, int64_t dim);
// Transposes a matrix. Returns a vector or scalar unchanged.
Tensor t(const Tensor& x);
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1);
Tensor unsqueeze(const Tensor& x, int64_t dim);
// Throws if the strides do not allow it. One size may be -1.
Tensor view(const Tensor& x, const Dims& size);
Tensor _unsafe_view(const Tensor& x, const Dims& size);

// --- Views if the strides allow it, otherwise one copy. -----------------------------------------

Tensor reshape(const Tensor& x, const Dims& shape);
Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1);
// Returns `x` if it is already row-major.
Tensor contiguous(const Tensor& x);

// --- Copies ------------------------------------------------------------------------------------

Tensor clone(const Tensor& x);
// Writes `src`, broadcast and converted, into `self`, which may be on another device, and returns
// `self`. Copies between devices return when the values have arrived. With `non_blocking` and
// pinned memory (cuda/pinned.h) they return once the copy is enqueued in the stream.
Tensor copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
// Returns `x` if it already has the dtype or is on the device.
Tensor to(const Tensor& x, DType dtype);
Tensor to(const Tensor& x, Device device);

// --- GEMMs, floating dtypes only; sums are kept in f32 (f64 for f64). ------------------------

// beta * self + alpha * (mat1 @ mat2). `self` broadcasts to the result and may be a bias vector.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, double beta = 1,
             double alpha = 1);
// relu(addmm(...)), or gelu(addmm(...), "tanh"). Runs in the GEMM's epilogue if the GPU library
// supports it.
Tensor _addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                         double beta = 1, double alpha = 1, bool use_gelu = false);
Tensor bmm(const Tensor& a, const Tensor& b);
// x @ weight.t() + bias, over the last dimension of x. `bias` may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
// NumPy's rules: vectors, matrices, and broadcast batches of matrices.
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor mm(const Tensor& a, const Tensor& b);

// --- GEMMs with int8 weights, on the CPU. The input is f32, bf16 or f16. ------------------------

// x @ (scale * weight).t() + bias. The weight is i8 [n, k]; the scale, of any floating dtype, is
// [n, 1], or [n, groups] with one number for every 32 along k. With `int8_input`, each row of x is
// quantized in groups of 32 first: much faster, less exact. A group that contains an infinity or
// NaN makes its row NaN, and one in which all numbers are below 2^-100 counts as zero.
Tensor int8_linear(const Tensor& x, const Tensor& weight, const Tensor& scale,
                   const Tensor& bias = {}, bool int8_input = true);
// The same for x [m, k] and mat2 [k, n], usually the transposed view of a weight.
Tensor int8_mm(const Tensor& x, const Tensor& mat2, const Tensor& scale, const Tensor& bias = {},
               bool int8_input = true);

// --- Pointwise, with broadcasting. --------------------------------------------------------------

// Checks the arguments against the table of pointwise/, then dispatches.
Tensor pointwise_op(Op op, std::initializer_list<Arg> args);

// x + alpha * other.
inline Tensor add(const Tensor& x, const Tensor& other, double alpha = 1) {
  return pointwise_op(Op::kAdd, {x, other, factor(alpha)});
}
inline Tensor add(const Tensor& x, double other, double alpha = 1) {
  return pointwise_op(Op::kAdd, {x, other, factor(alpha)});
}
inline Tensor sub(const Tensor& x, const Tensor& other, double alpha = 1) {
  return pointwise_op(Op::kSub, {x, other, factor(alpha)});
}
inline Tensor sub(const Tensor& x, double other, double alpha = 1) {
  return pointwise_op(Op::kSub, {x, other, factor(alpha)});
}
inline Tensor mul(const Tensor& x, const Tensor& other) {
  return pointwise_op(Op::kMul, {x, other});
}
inline Tensor mul(const Tensor& x, double other) { return pointwise_op(Op::kMul, {x, other}); }
inline Tensor div(const Tensor& x, const Tensor& other) {
  return pointwise_op(Op::kDiv, {x, other});
}
inline Tensor div(const Tensor& x, double other) { return pointwise_op(Op::kDiv, {x, other}); }

// With the special cases of C: pow(x, 0) and pow(1, y) are 1, and the power of a negative number
// with an exponent that is not an integer is NaN.
inline Tensor pow(const Tensor& x, const Tensor& exponent) {
  return pointwise_op(Op::kPow, {x, exponent});
}
inline Tensor pow(const Tensor& x, double exponent) {
  return pointwise_op(Op::kPow, {x, exponent});
}

inline Tensor cos(const Tensor& x) { return pointwise_op(Op::kCos, {x}); }
inline Tensor sin(const Tensor& x) { return pointwise_op(Op::kSin, {x}); }
// 1 / sqrt(x).
inline Tensor rsqrt(const Tensor& x) { return pointwise_op(Op::kRsqrt, {x}); }
inline Tensor neg(const Tensor& x) { return pointwise_op(Op::kNeg, {x}); }
inline Tensor relu(const Tensor& x) { return pointwise_op(Op::kRelu, {x}); }
inline Tensor erf(const Tensor& x) { return pointwise_op(Op::kErf, {x}); }
inline Tensor exp(const Tensor& x) { return pointwise_op(Op::kExp, {x}); }
inline Tensor tanh(const Tensor& x) { return pointwise_op(Op::kTanh, {x}); }
inline Tensor sigmoid(const Tensor& x) { return pointwise_op(Op::kSigmoid, {x}); }
inline Tensor silu(const Tensor& x) { return pointwise_op(Op::kSilu, {x}); }
// One bound may be absent. The result is `max` if min > max.
inline Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max = {}) {
  return pointwise_op(Op::kClamp, {x, min ? factor(*min) : Arg(), max ? factor(*max) : Arg()});
}
// x min(max(x + 3, 0), 6) / 6.
inline Tensor hardswish(const Tensor& x) { return pointwise_op(Op::kHardswish, {x}); }
// x if x > 0, else negative_slope * x.
inline Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01) {
  return pointwise_op(Op::kLeakyRelu, {x, factor(negative_slope)});
}
// log(1 + exp(beta x)) / beta, or x if beta x is above the threshold.
inline Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20) {
  return pointwise_op(Op::kSoftplus, {x, factor(beta), factor(threshold)});
}
// `approximate` is "none" (exact, with erf) or "tanh".
Tensor gelu(const Tensor& x, std::string_view approximate = "none");

// --- Reductions and rows -------------------------------------------------------------------------

// Over `dims`, or over all dimensions if it is empty. Integers and bool sum to i64.
Tensor sum(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
Tensor mean(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
// Rejects dimensions of size zero. NaN propagates.
Tensor amax(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
// The i64 index of the largest element along `dim`, or of the flattened tensor: the first one if
// several are equal. NaN counts as the largest. Rejects a dimension of size zero.
Tensor argmax(const Tensor& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
// The `k` largest or smallest elements along `dim`, in order, and their i64 indices. NaN counts as
// larger than every number. Of equal elements, the one with the lower index comes first. The result
// is sorted even if `sorted` is false.
struct TopK {
  Tensor values;
  Tensor indices;
};
TopK topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);
Tensor softmax(const Tensor& x, int64_t dim);
// softmax, except that a row in which every element is -inf gives 0 instead of NaN.
Tensor _safe_softmax(const Tensor& x, int64_t dim);
// softmax over the last dimension of [..., rows, columns], where row i reads only its columns up to
// i. The other columns become 0. Not an operator of ATen.
Tensor causal_softmax(const Tensor& x);
// Over the last dimensions, `normalized_shape`. weight and bias have that shape or are undefined.
Tensor layer_norm(const Tensor& x, const Dims& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
// `eps` defaults to the machine epsilon of the compute dtype.
Tensor rms_norm(const Tensor& x, const Dims& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);
Tensor cat(std::span<const Tensor> tensors, int64_t dim = 0);

// --- Indices and masks ---------------------------------------------------------------------------
// Indices are i64 or i32 and not negative. An index out of range throws on the CPU. On a GPU, where
// it cannot be known in time, it stops the kernel, and the next call that waits for the GPU fails.

// The rows of `weight`, [count, width], with these indices: [indices..., width].
Tensor embedding(const Tensor& weight, const Tensor& indices);
// out[i][j] = x[i][index[i][j]] for dim 1. `index` has as many dimensions as `x` and is not larger
// than `x` in the others.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);
// The slices of `x` along `dim` with the indices in the vector `index`.
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);
// `x` where the condition, a bool tensor, is true, else `other`. All three broadcast.
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& x, double other);
Tensor where(const Tensor& condition, double x, const Tensor& other);

// --- Attention -----------------------------------------------------------------------------------

// softmax(query @ key.t() * scale + mask) @ value, over the last two dimensions of
// query [..., heads, rows, depth], key [..., heads, columns, depth] and
// value [..., heads, columns, width].
//   attn_mask   broadcasts to [..., heads, rows, columns]. A bool mask is false where the weight is
//               0. A mask of the query's dtype is added. A row without any weight gives 0.
//   is_causal   row i reads the columns up to i, and there is no attn_mask
//   scale       1 / sqrt(depth) if absent
//   enable_gqa  the heads of the query are a multiple of those of key and value, and adjacent heads
//               share one. Key and value are not copied for that.
// Batches do not broadcast. Composed of other operators. There is no dropout.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, bool is_causal = false,
                                    std::optional<double> scale = std::nullopt,
                                    bool enable_gqa = false);

}  // namespace epi
