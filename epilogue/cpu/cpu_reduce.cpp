// SPDX-License-Identifier: Apache-2.0
// sum, mean and amax over any dimensions. Sums are kept in double, integer sums in 64 bits. If the
// reduced dimension is the dense one, each row is read in order. If the kept dimension is the dense
// one, a block of outputs is accumulated side by side, so that memory is still read in order.
#include <algorithm>
#include <cstdlib>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"

namespace epi::cpu {
namespace {

constexpr int64_t kGrain = 32 * 1024;  // elements per task
constexpr int64_t kBlock = 1024;       // elements read, or outputs accumulated, at a time

enum class Reduction { kSum, kMean, kMax };

// The input's dimensions in two groups, each collapsed, with the input's strides.
struct Split {
  Layout kept;
  Layout reduced;
};

Split split(const Tensor& x, const Dims& dims) {
  Split result;
  int next = 0;
  for (int i = 0; i < x.dim(); ++i) {
    const bool is_reduced = next < dims.rank() && dims[next] == i;
    if (is_reduced) ++next;
    Layout& layout = is_reduced ? result.reduced : result.kept;
    layout.shape.push_back(x.shape()[i]);
    layout.strides.push_back(x.strides()[i]);
  }
  result.kept = collapse(result.kept);
  result.reduced = collapse(result.reduced);
  return result;
}

// Calls f(offset, stride, count) for runs along the last dimension, over [begin, end) of `layout`.
template <typename F>
void for_runs(const Layout& layout, int64_t begin, int64_t end, int64_t longest, F&& f) {
  const int64_t inner = layout.rank() == 0 ? 1 : layout.shape.back();
  const int64_t stride = layout.rank() == 0 ? 1 : layout.strides.back();
  for (int64_t i = begin; i < end;) {
    const int64_t count = std::min({inner - i % inner, end - i, longest});
    f(element_offset(layout, i), stride, count);
    i += count;
  }
}

// A run of the input in the compute type: in place if it is already dense and of that type,
// otherwise in `buffer`.
template <typename C>
const C* read_run(const Tensor& x, int64_t offset, int64_t stride, int64_t count, C* buffer) {
  const std::byte* at = x.raw_data() + offset * size_bytes(x.dtype());
  if (x.dtype() == DTypeOf<C>::value && stride == 1) return reinterpret_cast<const C*>(at);
  const DType target = DTypeOf<C>::value;
  converter(x.dtype(), target)(at, stride, buffer, 1, count);
  return buffer;
}

// Computes one output: the reduction of the whole `reduced` layout at `base`.
template <typename C>
double reduce_one(const Tensor& x, const Layout& reduced, int64_t base, Reduction reduction) {
  C buffer[kBlock];
  double total = 0;
  C largest{};
  bool first = true;
  for_runs(reduced, 0, numel(reduced.shape), kBlock,
           [&](int64_t offset, int64_t stride, int64_t count) {
             const C* run = read_run<C>(x, base + offset, stride, count, buffer);
             if (reduction != Reduction::kMax) {
               total += row_loops<C>().sum(run, count);
               return;
             }
             const C value = row_loops<C>().max(run, count);
             if (first) largest = value;
             row_loops<C>().accumulate_max(&value, &largest, 1);
             first = false;
           });
  return reduction == Reduction::kMax ? static_cast<double>(largest) : total;
}

// Computes `count` outputs side by side, `stride` apart in the input, starting at `base`.
template <typename C>
void reduce_block(const Tensor& x, const Layout& reduced, int64_t base, int64_t stride,
                  int64_t count, Reduction reduction, double* results) {
  C buffer[kBlock];
  C maxima[kBlock];
  std::fill_n(results, count, 0.0);
  const int64_t steps = numel(reduced.shape);
  for (int64_t i = 0; i < steps; ++i) {
    const C* run = read_run<C>(x, base + element_offset(reduced, i), stride, count, buffer);
    if (reduction != Reduction::kMax) {
      row_loops<C>().accumulate(run, results, count);
    } else if (i == 0) {
      std::copy_n(run, count, maxima);
    } else {
      row_loops<C>().accumulate_max(run, maxima, count);
    }
  }
  if (reduction == Reduction::kMax) std::copy_n(maxima, count, results);
}

template <typename C>
void reduce_floating(const Tensor& x, const Split& dims, const Tensor& out, Reduction reduction) {
  const int64_t steps = numel(dims.reduced.shape);
  const double scale = reduction == Reduction::kMean ? 1.0 / static_cast<double>(steps) : 1.0;
  const ConvertLoop round = converter(DType::kF64, out.dtype());
  const bool side_by_side =
      dims.kept.rank() > 0 && dims.reduced.rank() > 0 &&
      std::abs(dims.kept.strides.back()) < std::abs(dims.reduced.strides.back());
  parallel_for(
      out.numel(), std::max<int64_t>(1, kGrain / std::max<int64_t>(steps, 1)),
      [&](int64_t begin, int64_t end) {
        double results[kBlock];
        int64_t at = begin;
        for_runs(dims.kept, begin, end, kBlock, [&](int64_t offset, int64_t stride, int64_t count) {
          if (side_by_side) {
            reduce_block<C>(x, dims.reduced, offset, stride, count, reduction, results);
          } else {
            for (int64_t i = 0; i < count; ++i) {
              results[i] = reduce_one<C>(x, dims.reduced, offset + i * stride, reduction);
            }
          }
          for (int64_t i = 0; i < count; ++i) results[i] *= scale;
          round(results, 1, out.raw_data() + at * size_bytes(out.dtype()), 1, count);
          at += count;
        });
      });
}

// Integers and bool: exact, in 64 bits.
void reduce_integers(const Tensor& x, const Split& dims, const Tensor& out, Reduction reduction) {
  const int64_t steps = numel(dims.reduced.shape);
  const ConvertLoop widen = converter(x.dtype(), DType::kI64);
  const ConvertLoop narrow = converter(DType::kI64, out.dtype());
  parallel_for(out.numel(), std::max<int64_t>(1, kGrain / std::max<int64_t>(steps, 1)),
               [&](int64_t begin, int64_t end) {
                 int64_t buffer[kBlock];
                 for (int64_t i = begin; i < end; ++i) {
                   const std::byte* base =
                       x.raw_data() + element_offset(dims.kept, i) * size_bytes(x.dtype());
                   uint64_t total = 0;
                   int64_t largest = INT64_MIN;
                   for_runs(
                       dims.reduced, 0, steps, kBlock,
                       [&](int64_t offset, int64_t stride, int64_t count) {
                         widen(base + offset * size_bytes(x.dtype()), stride, buffer, 1, count);
                         for (int64_t k = 0; k < count; ++k)
                           total += static_cast<uint64_t>(buffer[k]);
                         largest = std::max(largest, *std::max_element(buffer, buffer + count));
                       });
                   const int64_t result =
                       reduction == Reduction::kMax ? largest : static_cast<int64_t>(total);
                   narrow(&result, 1, out.raw_data() + i * size_bytes(out.dtype()), 1, 1);
                 }
               });
}

void reduce(std::string_view op, Reduction reduction, Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const Split dims = split(x, args[1].ints());
  run_kernel(
      [&]() -> KernelCost {
        return {KernelName("reduce_{}_{}", op, name(x.dtype())), stored_bytes(x) + out.size_bytes(),
                x.numel()};
      },
      [&] {
        if (!is_floating(x.dtype())) {
          reduce_integers(x, dims, out, reduction);
        } else if (x.dtype() == DType::kF64) {
          reduce_floating<double>(x, dims, out, reduction);
        } else {
          reduce_floating<float>(x, dims, out, reduction);
        }
      });
}

}  // namespace

void amax(Args args, const Tensor& out) { reduce("amax", Reduction::kMax, args, out); }
void mean(Args args, const Tensor& out) { reduce("mean", Reduction::kMean, args, out); }
void sum(Args args, const Tensor& out) { reduce("sum", Reduction::kSum, args, out); }

}  // namespace epi::cpu
