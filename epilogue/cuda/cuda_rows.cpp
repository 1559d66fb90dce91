// SPDX-License-Identifier: Apache-2.0
// The softmaxes, norms, argmax and topk: converts rows to a RowShape and makes parameters
// contiguous.
#include <limits>

#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/operands.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/rank_call.h"
#include "epilogue/ops/readable.h"
#include "epilogue/tensor/factories.h"

namespace epi::cuda {
namespace {

// `x` without dimension `dim`, that is, the first element of each row.
Tensor row_starts(const Tensor& x, int dim) {
  Layout layout = x.layout();
  layout.shape.erase(dim);
  layout.strides.erase(dim);
  return {x.storage(), layout, x.offset(), x.dtype()};
}

RowShape row_shape(std::string_view op, const Tensor& x, const Tensor& out, int dim) {
  const Tensor x_rows = row_starts(x, dim);
  const Tensor out_rows = row_starts(out, dim);
  if (x_rows.numel() > std::numeric_limits<int32_t>::max()) {
    fail(op, "{} rows exceed the limit of 2^31 - 1", x_rows.numel());
  }
  RowShape shape;
  shape.rows = strided_shape({&out_rows, &x_rows});
  shape.count = x.shape()[dim];
  shape.strides[0] = out.strides()[dim];
  shape.strides[1] = x.strides()[dim];
  return shape;
}

const void* data_of(const Tensor& tensor) { return tensor.defined() ? tensor.raw_data() : nullptr; }

using NormLauncher = void (*)(DType, const RowShape&, NormParameters, cudaStream_t);

void run_norm(std::string_view op, NormLauncher launch, const Tensor& x, const Dims& normalized,
              const Tensor& weight, const Tensor& bias, double eps, int64_t flops,
              const Tensor& out) {
  const Tensor rows = with_flat_rows(x, normalized);
  const Tensor target = with_flat_rows(out, normalized);
  run_launch(
      [&] {
        int64_t bytes = stored_bytes(x) + out.size_bytes();
        if (weight.defined()) bytes += stored_bytes(weight);
        if (bias.defined()) bytes += stored_bytes(bias);
        return LaunchCost{bytes, flops * x.numel()};
      },
      [&] {
        launch(x.dtype(), row_shape(op, rows, target, rows.dim() - 1),
               {data_of(weight), data_of(bias), eps}, current_stream(out.device().index).get());
      });
  check_launch(op);
}

template <typename Launch>
void run_softmax(std::string_view op, const Launch& launch, const Tensor& x, int dim,
                 const Tensor& out) {
  const Tensor rows = with_a_row(op, x);
  const Tensor target = with_a_row(op, out);
  const auto cost = [&]() -> LaunchCost {
    return {stored_bytes(x) + out.size_bytes(), 4 * x.numel()};
  };
  run_launch(cost, [&] {
    launch(x.dtype(), row_shape(op, rows, target, dim), current_stream(out.device().index).get());
  });
  check_launch(op);
}

using RankLauncher = void (*)(DType, const RowShape&, const Ranking&, cudaStream_t);

void run_ranking(std::string_view op, RankLauncher launch, const RankCall& call) {
  const Tensor& x = call.x;
  const Tensor& out = call.out;
  const LaunchCost cost{stored_bytes(x) + out.size_bytes(), x.numel()};
  const Ranking ranking{out.shape()[call.dim], out.strides()[call.dim], call.largest};
  const auto run = [&] {
    launch(x.dtype(), row_shape(op, x, out, call.dim), ranking,
           current_stream(out.device().index).get());
  };
  run_launch([&] { return cost; }, run);
  check_launch(op);
}

}  // namespace

void layer_norm(Args args, const Tensor& out) {
  run_norm("layer_norm", launch_layer_norm, args.tensor(0), args[1].ints(),
           dense_parameter(args, 2), dense_parameter(args, 3), args[4].number(), 7, out);
}

void rms_norm(Args args, const Tensor& out) {
  run_norm("rms_norm", launch_rms_norm, args.tensor(0), args[1].ints(), dense_parameter(args, 2),
           {}, args[3].number(), 4, out);
}

void softmax(Args args, const Tensor& out) {
  run_softmax("softmax", launch_softmax, args.tensor(0), static_cast<int>(args[1].integer()), out);
}

void safe_softmax(Args args, const Tensor& out) {
  run_softmax("_safe_softmax", launch_safe_softmax, args.tensor(0),
              static_cast<int>(args[1].integer()), out);
}

void causal_softmax(Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const auto launch = [&](DType dtype, const RowShape& rows, cudaStream_t stream) {
    launch_causal_softmax(dtype, rows, x.size(-2), stream);
  };
  run_softmax("causal_softmax", launch, x, x.dim() - 1, out);
}

void argmax(Args args, const Tensor& out) {
  run_ranking("argmax", launch_argmax, argmax_call(args, out));
}

void topk(Args args, const Tensor& out) { run_ranking("topk", launch_topk, topk_call(args, out)); }

}  // namespace epi::cuda
