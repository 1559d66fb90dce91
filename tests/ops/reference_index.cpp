// SPDX-License-Identifier: Apache-2.0
// References of operators that read by index, rank rows, or mask them, and of attention.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/ops/reference.h"

namespace epi::ref {
namespace {

// Calls `visit(row, index)` for each row along `dim`: its values and the index of its first
// element.
template <typename Visit>
void for_each_row(const RefTensor& x, int dim, Visit&& visit) {
  Dims rest = x.shape;
  rest[dim] = 1;
  for_each_index(rest, [&](Dims index, size_t) {
    std::vector<double> row;
    for (index[dim] = 0; index[dim] < x.shape[dim]; ++index[dim]) {
      row.push_back(x.values[position(index, x.shape)]);
    }
    index[dim] = 0;
    visit(row, index);
  });
}

// Stores `row` along `dim`, starting at `index`.
void put_row(RefTensor& out, int dim, Dims index, const std::vector<double>& row) {
  for (const double value : row) {
    out.values[position(index, out.shape)] = value;
    ++index[dim];
  }
}

bool is_larger(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

RefTensor filled(const Dims& shape, double value) {
  return {shape, std::vector<double>(static_cast<size_t>(numel(shape)), value)};
}

}  // namespace

RefTensor index_select(const RefTensor& x, int dim, const RefTensor& index) {
  Dims shape = x.shape;
  shape[dim] = std::ssize(index.values);
  return gather(x, shape, [&](Dims at) {
    at[dim] = static_cast<int64_t>(index.values[static_cast<size_t>(at[dim])]);
    return at;
  });
}

RefTensor gather_along(const RefTensor& x, int dim, const RefTensor& index) {
  return gather(x, index.shape, [&](Dims at) {
    if (at.rank() > 0) at[dim] = static_cast<int64_t>(index.values[position(at, index.shape)]);
    return at;
  });
}

RefTensor where(const RefTensor& condition, const RefTensor& x, const RefTensor& other) {
  const Dims shape = broadcast(broadcast(condition.shape, x.shape), other.shape);
  const RefTensor mask = expand(condition, shape);
  RefTensor out = expand(x, shape);
  const RefTensor right = expand(other, shape);
  for (size_t i = 0; i < out.values.size(); ++i) {
    if (mask.values[i] == 0) out.values[i] = right.values[i];
  }
  return out;
}

RefTensor argmax(const RefTensor& x, int dim, bool keepdim) {
  RefTensor out = topk_indices(x, 1, dim);
  if (!keepdim) out.shape.erase(dim);
  return out;
}

RefTensor topk_indices(const RefTensor& x, int64_t k, int dim, bool largest) {
  Dims shape = x.shape;
  shape[dim] = k;
  RefTensor out = filled(shape, 0);
  for_each_row(x, dim, [&](const std::vector<double>& row, const Dims& index) {
    std::vector<size_t> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return largest ? is_larger(row[a], row[b]) : is_larger(row[b], row[a]);
    });
    put_row(out, dim, index, {order.begin(), order.begin() + k});
  });
  return out;
}

RefTensor safe_softmax(const RefTensor& x, int dim) {
  RefTensor out = softmax(x, dim);
  for_each_row(x, dim, [&](const std::vector<double>& row, const Dims& index) {
    const bool is_masked =
        std::all_of(row.begin(), row.end(), [](double value) { return value == -HUGE_VAL; });
    if (is_masked) put_row(out, dim, index, std::vector<double>(row.size(), 0));
  });
  return out;
}

RefTensor causal_softmax(const RefTensor& x) {
  RefTensor masked = x;
  for_each_index(x.shape, [&](const Dims& index, size_t i) {
    if (index[index.rank() - 1] > index[index.rank() - 2]) masked.values[i] = -HUGE_VAL;
  });
  return softmax(masked, x.shape.rank() - 1);
}

RefTensor attention(const RefTensor& q, const RefTensor& k, const RefTensor& v,
                    const RefTensor& mask, double scale) {
  const int64_t repeats = q.shape[1] / k.shape[1];
  Dims shape = q.shape;
  shape[3] = v.shape[3];
  RefTensor out = filled(shape, 0);
  out.scales = out.values;
  out.terms = k.shape[2] + k.shape[3];
  Dims scores_shape = q.shape;
  scores_shape[3] = k.shape[2];
  RefTensor scores = filled(scores_shape, 0);
  RefTensor sizes = scores;  // sums of magnitudes, whose rounding errors the softmax amplifies
  for_each_index(scores_shape, [&](const Dims& at, size_t i) {
    for (int64_t d = 0; d < q.shape[3]; ++d) {
      const double term = scale * q.values[position({at[0], at[1], at[2], d}, q.shape)] *
                          k.values[position({at[0], at[1] / repeats, at[3], d}, k.shape)];
      scores.values[i] += term;
      sizes.values[i] += std::abs(term);
    }
    scores.values[i] += mask.values[i];
  });
  const RefTensor weights = safe_softmax(scores, 3);
  for_each_index(shape, [&](const Dims& at, size_t i) {
    for (int64_t c = 0; c < k.shape[2]; ++c) {
      const size_t place = position({at[0], at[1], at[2], c}, scores_shape);
      const double value = v.values[position({at[0], at[1] / repeats, c, at[3]}, v.shape)];
      out.values[i] += weights.values[place] * value;
      out.scales[i] += weights.values[place] * std::abs(value) * (1 + sizes.values[place]);
    }
  });
  return out;
}

}  // namespace epi::ref
