// SPDX-License-Identifier: Apache-2.0
// argmax and topk: a loop over rows, each of which is first converted to the type in which it is
// compared.
#include <algorithm>
#include <numeric>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/rank_call.h"

namespace epi::cpu {
namespace {

constexpr int64_t kGrain = 16 * 1024;  // elements per task

// NaN is larger than every number and equal to itself.
template <typename C>
bool is_larger(C a, C b) {
  return a > b || (a != a && b == b);
}

// The rows of `x` along `dim`, and the rows of the i64 indices that rank them.
struct Rows {
  Rows(const Tensor& x_in, const Tensor& out_in, int dim)
      : x(x_in), out(out_in), x_rest(x.layout()), out_rest(out.layout()) {
    count = x.shape()[dim];
    stride = x.strides()[dim];
    out_count = out.shape()[dim];
    out_stride = out.strides()[dim];
    for (Layout* layout : {&x_rest, &out_rest}) {
      layout->shape.erase(dim);
      layout->strides.erase(dim);
    }
  }

  Tensor x;
  Tensor out;
  Layout x_rest;
  Layout out_rest;
  int64_t count = 0;
  int64_t stride = 0;
  int64_t out_count = 0;
  int64_t out_stride = 0;
};

// Calls rank(values, indices) for every row. It fills the vector of `out_count` indices.
template <typename C, typename Rank>
void for_rows(const Rows& rows, const Rank& rank) {
  const ConvertLoop convert = converter(rows.x.dtype(), DTypeOf<C>::value);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(rows.count, 1));
  parallel_for(numel(rows.x_rest.shape), grain, [&](int64_t begin, int64_t end) {
    std::vector<C> values(static_cast<size_t>(rows.count));
    std::vector<int64_t> indices(static_cast<size_t>(rows.out_count));
    for (int64_t row = begin; row < end; ++row) {
      const int64_t offset = element_offset(rows.x_rest, row) * size_bytes(rows.x.dtype());
      convert(rows.x.raw_data() + offset, rows.stride, values.data(), 1, rows.count);
      rank(values, indices);
      int64_t* to = rows.out.data<int64_t>() + element_offset(rows.out_rest, row);
      for (size_t i = 0; i < indices.size(); ++i) {
        to[static_cast<int64_t>(i) * rows.out_stride] = indices[i];
      }
    }
  });
}

template <typename C>
void rank_first(const std::vector<C>& values, std::vector<int64_t>& indices) {
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    if (is_larger(values[i], values[best])) best = i;
  }
  indices[0] = static_cast<int64_t>(best);
}

template <typename C>
void rank_many(const std::vector<C>& values, std::vector<int64_t>& indices, bool largest) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_before = [&](int64_t a, int64_t b) {
    const C left = values[static_cast<size_t>(a)];
    const C right = values[static_cast<size_t>(b)];
    if (is_larger(left, right)) return largest;
    if (is_larger(right, left)) return !largest;
    return a < b;
  };
  const auto end = order.begin() + std::ssize(indices);
  std::partial_sort(order.begin(), end, order.end(), is_before);
  std::copy(order.begin(), end, indices.begin());
}

template <typename C>
void rank_rows(const Rows& rows, bool only_first, bool largest) {
  for_rows<C>(rows, [&](const std::vector<C>& values, std::vector<int64_t>& indices) {
    only_first ? rank_first(values, indices) : rank_many(values, indices, largest);
  });
}

void rank(std::string_view op, const Rows& rows, bool only_first, bool largest) {
  const DType dtype = rows.x.dtype();
  run_kernel(
      [&]() -> KernelCost {
        return {KernelName("{}_{}", op, name(dtype)), stored_bytes(rows.x) + rows.out.size_bytes(),
                rows.x.numel()};
      },
      [&] {
        if (!is_floating(dtype)) return rank_rows<int64_t>(rows, only_first, largest);
        if (dtype == DType::kF64) return rank_rows<double>(rows, only_first, largest);
        rank_rows<float>(rows, only_first, largest);
      });
}

}  // namespace

void argmax(Args args, const Tensor& out) {
  const RankCall call = argmax_call(args, out);
  rank("argmax", Rows(call.x, call.out, call.dim), true, call.largest);
}

void topk(Args args, const Tensor& out) {
  const RankCall call = topk_call(args, out);
  rank("topk", Rows(call.x, call.out, call.dim), false, call.largest);
}

}  // namespace epi::cpu
