// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention, composed of two matmuls around a softmax. Heads of the query that
// share a head of key and value become rows of one matmul, so that nothing is repeated.
#include <cmath>

#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/results.h"

namespace epi {
namespace {

constexpr std::string_view kName = "scaled_dot_product_attention";

Dims with_last(const Tensor& x, int64_t rows, int64_t columns) {
  Dims shape = x.shape();
  shape[x.dim() - 2] = rows;
  shape[x.dim() - 1] = columns;
  return shape;
}

// Whether the shapes agree in all dimensions before the last `count`.
bool have_same_batch(const Tensor& a, const Tensor& b, int count) {
  bool same = a.dim() == b.dim();
  for (int i = 0; same && i < a.dim() - count; ++i) same = a.shape()[i] == b.shape()[i];
  return same;
}

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value, bool enable_gqa) {
  check_floating(kName, query);
  check_same_kind(kName, query, key);
  check_same_kind(kName, query, value);
  const int own = enable_gqa ? 3 : 2;  // the dimensions in which query and key may differ
  if (query.dim() < own) {
    fail(kName, "expected at least {} dimensions, got {}: the query is {}", own, query.dim(),
         to_string(query.shape()));
  }
  const bool fits = have_same_batch(query, key, own) && have_same_batch(key, value, 2) &&
                    query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2);
  if (!fits) {
    fail(kName,
         "the query is {}, the key {}, the value {}: the depths of query and key, the lengths of "
         "key "
         "and value, and all batches and heads must be equal{}",
         to_string(query.shape()), to_string(key.shape()), to_string(value.shape()),
         enable_gqa ? ", except for the heads of the query" : " (or set enable_gqa)");
  }
  if (enable_gqa && (key.size(-3) == 0 || query.size(-3) % key.size(-3) != 0)) {
    fail(kName, "the {} heads of the query are not a multiple of the {} heads of the key",
         query.size(-3), key.size(-3));
  }
}

void check_mask(const Tensor& query, const Tensor& key, const Tensor& mask, bool is_causal) {
  if (!mask.defined()) return;
  if (is_causal) fail(kName, "attn_mask and is_causal cannot be combined");
  if (mask.dtype() != DType::kBool) check_same_kind(kName, query, mask);
  if (mask.device() != query.device() && detail::capture == nullptr) {
    fail(kName, "devices differ: {} and {}", name(query.device()), name(mask.device()));
  }
  const Dims scores = with_last(query, query.size(-2), key.size(-2));
  broadcast_strides(kName, mask.layout(), scores);  // throws if it does not broadcast
}

Tensor weights_of(const Tensor& scores, const Tensor& mask, bool is_causal) {
  if (is_causal) return causal_softmax(scores);
  if (!mask.defined()) return softmax(scores, -1);
  if (mask.dtype() != DType::kBool) return _safe_softmax(add(scores, mask), -1);
  return _safe_softmax(where(mask, scores, -HUGE_VAL), -1);
}

// [..., heads, rows, columns] as [..., shared, heads / shared * rows, columns].
Tensor merged_heads(const Tensor& x, int64_t shared) {
  if (x.dim() < 3 || x.size(-3) == shared) return x;
  Dims shape = with_last(x, x.size(-3) / shared * x.size(-2), x.size(-1));
  shape[x.dim() - 3] = shared;
  return reshape(x, shape);
}

// The inverse: [..., heads, rows, columns] again, with the heads of `query`.
Tensor split_heads(const Tensor& x, const Tensor& query) {
  if (x.dim() < 3 || x.size(-3) == query.size(-3)) return x;
  return reshape(x, with_last(query, query.size(-2), x.size(-1)));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check_operands(query, key, value, enable_gqa);
  check_mask(query, key, attn_mask, is_causal);
  return dispatch(Op::kScaledDotProductAttention, {query, key, value, attn_mask, 0.0, is_causal,
                                                   scale ? Arg(*scale) : Arg(), enable_gqa});
}

namespace results {

Tensor scaled_dot_product_attention(Args args) {
  const Tensor& query = args.tensor(0);
  const Tensor& key = args.tensor(1);
  const Tensor& value = args.tensor(2);
  const double scale =
      args[6].is_none() ? 1 / std::sqrt(static_cast<double>(query.size(-1))) : args[6].number();
  const int64_t shared = key.dim() < 3 ? 1 : key.size(-3);
  const Tensor scaled = merged_heads(epi::mul(query, scale), shared);
  const Tensor transposed = epi::transpose(key, -2, -1);
  const Tensor scores = split_heads(epi::matmul(scaled, transposed), query);
  const Tensor weights = weights_of(scores, args.optional_tensor(3), args[5].flag());
  return split_heads(epi::matmul(merged_heads(weights, shared), value), query);
}

}  // namespace results
}  // namespace epi
