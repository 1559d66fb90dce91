// SPDX-License-Identifier: Apache-2.0
// sum, mean and amax: groups dimensions into kept and reduced ones, and decides how many parts a
// reduction is split into.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/operands.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/hooks.h"

namespace epi::cuda {
namespace {

// Enough blocks to fill the 132 multiprocessors of an H200 several times over.
constexpr int64_t kEnoughBlocks = 1024;
// Shorter parts are not worth a block.
constexpr int64_t kMinPart = 2048;
constexpr int64_t kMaxSize = int64_t{1} << 31;
constexpr int64_t kOutputsPerBlock = 32;  // of reduce_columns

ReductionDims plain_dims(const Layout& layout) {
  const Layout merged = collapse(layout);
  ReductionDims dims;
  dims.rank = merged.rank();
  dims.count = numel(merged.shape);
  std::copy(merged.shape.begin(), merged.shape.end(), dims.shape);
  std::copy(merged.strides.begin(), merged.strides.end(), dims.strides);
  return dims;
}

// Splits reductions with too few outputs to fill the device.
int64_t splits_of(const ReductionShape& shape) {
  const int64_t per_block = shape.columnwise ? kOutputsPerBlock : 1;
  const int64_t min_part = shape.columnwise ? kMinPart / kOutputsPerBlock : kMinPart;
  const int64_t blocks = (shape.kept.count + per_block - 1) / per_block;
  const int64_t max_splits = std::max<int64_t>(shape.reduced.count / min_part, 1);
  return std::clamp<int64_t>(kEnoughBlocks / std::max<int64_t>(blocks, 1), 1, max_splits);
}

ReductionShape reduction_shape(const Tensor& x, const Dims& dims, const Tensor& out) {
  Layout kept;
  Layout reduced;
  int next = 0;
  for (int i = 0; i < x.dim(); ++i) {
    const bool is_reduced = next < dims.rank() && dims[next] == i;
    if (is_reduced) ++next;
    Layout& layout = is_reduced ? reduced : kept;
    layout.shape.push_back(x.shape()[i]);
    layout.strides.push_back(x.strides()[i]);
  }
  for (const Layout* layout : {&kept, &reduced}) {
    for (const int64_t size : layout->shape) {
      if (size >= kMaxSize) fail("reduce", "dimension size {} exceeds 2^31 - 1", size);
    }
  }
  ReductionShape shape;
  shape.x = reinterpret_cast<const char*>(x.raw_data());
  shape.out = reinterpret_cast<char*>(out.raw_data());
  shape.kept = plain_dims(kept);
  shape.reduced = plain_dims(reduced);
  const auto along = [](const ReductionDims& d) { return std::abs(d.strides[d.rank - 1]); };
  shape.columnwise =
      shape.kept.rank > 0 && shape.reduced.rank > 0 && along(shape.kept) < along(shape.reduced);
  shape.splits = splits_of(shape);
  return shape;
}

using Launcher = void (*)(DType, const ReductionShape&, cudaStream_t);

void reduce(std::string_view op, Launcher launch, Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  ReductionShape shape = reduction_shape(x, args[1].ints(), out);
  const int device = out.device().index;
  std::optional<Scratch> partials;
  if (shape.splits > 1) {
    partials.emplace(device, shape.splits * shape.kept.count * 8);
    shape.partials = partials->data();
  }
  const auto cost = [&]() -> LaunchCost { return {stored_bytes(x) + out.size_bytes(), x.numel()}; };
  run_launch(cost, [&] { launch(x.dtype(), shape, current_stream(device).get()); });
  check_launch(op);
}

}  // namespace

void amax(Args args, const Tensor& out) { reduce("amax", launch_amax, args, out); }
void mean(Args args, const Tensor& out) { reduce("mean", launch_mean, args, out); }
void sum(Args args, const Tensor& out) { reduce("sum", launch_sum, args, out); }

}  // namespace epi::cuda
