// SPDX-License-Identifier: Apache-2.0
// The softmaxes, layer_norm and rms_norm: a loop over rows. A row that is not dense, or not f32 or
// f64, is first converted into a buffer of the compute type. Statistics are computed in double.
#include <algorithm>
#include <limits>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/readable.h"

namespace epi::cpu {
namespace {

// Elements per task: each costs an exp or two passes.
constexpr int64_t kGrain = 8 * 1024;

// Rows of `x` along its dimension `dim`, and the same rows of the row-major `out`.
class RowWalk {
 public:
  RowWalk(const Tensor& x, const Tensor& out, int dim)
      : x_(x),
        out_(out),
        count_(x.shape()[dim]),
        x_stride_(x.strides()[dim]),
        out_stride_(out.strides()[dim]) {
    x_rest_ = x.layout();
    out_rest_ = out.layout();
    for (Layout* layout : {&x_rest_, &out_rest_}) {
      layout->shape.erase(dim);
      layout->strides.erase(dim);
    }
  }

  // Calls body(in, out, row) for every row, both dense and of type C. `row` counts in row-major
  // order.
  template <typename C, typename Body>
  void parallel(const Body& body) const {
    const DType computed = DTypeOf<C>::value;
    const bool in_place = x_.dtype() == computed && x_stride_ == 1;
    const bool out_place = out_.dtype() == computed && out_stride_ == 1;
    const auto grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(count_, 1));
    parallel_for(numel(x_rest_.shape), grain, [&](int64_t begin, int64_t end) {
      std::vector<C> in_buffer(in_place ? 0 : static_cast<size_t>(count_));
      std::vector<C> out_buffer(out_place ? 0 : static_cast<size_t>(count_));
      for (int64_t row = begin; row < end; ++row) {
        std::byte* in = x_.raw_data() + element_offset(x_rest_, row) * size_bytes(x_.dtype());
        std::byte* out =
            out_.raw_data() + element_offset(out_rest_, row) * size_bytes(out_.dtype());
        if (!in_place) converter(x_.dtype(), computed)(in, x_stride_, in_buffer.data(), 1, count_);
        C* target = out_place ? reinterpret_cast<C*>(out) : out_buffer.data();
        body(in_place ? reinterpret_cast<const C*>(in) : in_buffer.data(), target, row);
        if (!out_place) converter(computed, out_.dtype())(target, 1, out, out_stride_, count_);
      }
    });
  }

 private:
  const Tensor& x_;
  const Tensor& out_;
  int64_t count_;
  int64_t x_stride_;
  int64_t out_stride_;
  Layout x_rest_;
  Layout out_rest_;
};

// A row-major parameter converted to the compute type, or null if it is absent.
template <typename C>
class Parameter {
 public:
  explicit Parameter(const Tensor& dense) : present_(dense.defined()) {
    if (!present_) return;
    values_.resize(static_cast<size_t>(dense.numel()));
    converter(dense.dtype(), DTypeOf<C>::value)(dense.raw_data(), 1, values_.data(), 1,
                                                dense.numel());
  }
  const C* data() const { return present_ ? values_.data() : nullptr; }

 private:
  bool present_;
  std::vector<C> values_;
};

template <typename C>
void run_layer_norm(const Tensor& x, const Tensor& dense_weight, const Tensor& dense_bias,
                    double epsilon, const Tensor& out) {
  const Parameter<C> weight(dense_weight);
  const Parameter<C> bias(dense_bias);
  const auto eps = static_cast<C>(epsilon);
  const int64_t count = x.size(-1);
  RowWalk(x, out, x.dim() - 1).parallel<C>([&](const C* in, C* to, int64_t /*row*/) {
    row_loops<C>().layer_norm(in, weight.data(), bias.data(), to, count, eps);
  });
}

template <typename C>
void run_rms_norm(const Tensor& x, const Tensor& dense_weight, double epsilon, const Tensor& out) {
  const Parameter<C> weight(dense_weight);
  const auto eps = static_cast<C>(epsilon);
  const int64_t count = x.size(-1);
  RowWalk(x, out, x.dim() - 1).parallel<C>([&](const C* in, C* to, int64_t /*row*/) {
    row_loops<C>().rms_norm(in, weight.data(), to, count, eps);
  });
}

enum class Masking { kNone, kSafe, kCausal };

// The number of columns that a row of a causal softmax reads.
int64_t causal_count(const Tensor& x, int64_t row) {
  return std::min(row % x.size(-2) + 1, x.size(-1));
}

template <typename C>
void run_softmax(const Tensor& x, const Tensor& out, int dim, Masking masking) {
  const int64_t columns = x.shape()[dim];
  RowWalk(x, out, dim).parallel<C>([&, columns](const C* in, C* to, int64_t row) {
    const int64_t count = masking == Masking::kCausal ? causal_count(x, row) : columns;
    if (masking == Masking::kSafe &&
        row_loops<C>().max(in, count) == -std::numeric_limits<C>::infinity()) {
      std::fill_n(to, count, C(0));
      return;
    }
    row_loops<C>().softmax(in, to, count);
    std::fill(to + count, to + columns, C(0));
  });
}

KernelCost row_facts(std::string_view op, const Tensor& x, int64_t parameter_bytes, int64_t flops) {
  return {KernelName("{}_{}", op, name(x.dtype())),
          stored_bytes(x) + x.size_bytes() + parameter_bytes, flops * x.numel()};
}

int64_t parameter_bytes(Args args, std::initializer_list<size_t> positions) {
  int64_t bytes = 0;
  for (const size_t i : positions) {
    if (args[i].is_tensor()) bytes += stored_bytes(args.tensor(i));
  }
  return bytes;
}

void softmax_kernel(std::string_view op, const Tensor& x, const Tensor& out, int dim,
                    Masking masking) {
  // A zero-dimensional tensor is one row of one element.
  const Layout one{{1}, {1}};
  const Tensor rows = x.dim() == 0 ? x.with_layout(op, one, x.offset()) : x;
  const Tensor target = x.dim() == 0 ? out.with_layout(op, one, out.offset()) : out;
  run_kernel([&] { return row_facts(op, x, 0, 4); },
             [&] {
               x.dtype() == DType::kF64 ? run_softmax<double>(rows, target, dim, masking)
                                        : run_softmax<float>(rows, target, dim, masking);
             });
}

}  // namespace

void causal_softmax(Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  softmax_kernel("causal_softmax", x, out, x.dim() - 1, Masking::kCausal);
}

void layer_norm(Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const Tensor rows = with_flat_rows(x, args[1].ints());
  const Tensor target = with_flat_rows(out, args[1].ints());
  const Tensor weight = dense_parameter(args, 2);
  const Tensor bias = dense_parameter(args, 3);
  const double eps = args[4].number();
  const auto facts = [&] {
    const int64_t parameters = parameter_bytes(args, {2, 3});
    return row_facts("layer_norm", x, parameters, 7);
  };
  run_kernel(facts, [&] {
    x.dtype() == DType::kF64 ? run_layer_norm<double>(rows, weight, bias, eps, target)
                             : run_layer_norm<float>(rows, weight, bias, eps, target);
  });
}

void rms_norm(Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const Tensor rows = with_flat_rows(x, args[1].ints());
  const Tensor target = with_flat_rows(out, args[1].ints());
  const Tensor weight = dense_parameter(args, 2);
  const double eps = args[3].number();
  const auto facts = [&] {
    const int64_t parameters = parameter_bytes(args, {2});
    return row_facts("rms_norm", x, parameters, 4);
  };
  run_kernel(facts, [&] {
    x.dtype() == DType::kF64 ? run_rms_norm<double>(rows, weight, eps, target)
                             : run_rms_norm<float>(rows, weight, eps, target);
  });
}

void safe_softmax(Args args, const Tensor& out) {
  softmax_kernel("_safe_softmax", args.tensor(0), out, static_cast<int>(args[1].integer()),
                 Masking::kSafe);
}

void softmax(Args args, const Tensor& out) {
  softmax_kernel("softmax", args.tensor(0), out, static_cast<int>(args[1].integer()),
                 Masking::kNone);
}

}  // namespace epi::cpu
