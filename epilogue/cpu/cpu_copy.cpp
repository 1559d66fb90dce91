// SPDX-License-Identifier: Apache-2.0
// Copies between layouts and dtypes, and concatenation.
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/cpu/strided_walk.h"

namespace epi::cpu {
namespace {

// Writes `src`, broadcast and converted, into `out`. Returns whether the runs were dense.
bool copy_into(const Tensor& out, const Tensor& src) {
  const ConvertLoop loop = converter(src.dtype(), out.dtype());
  const StridedWalk walk(out.shape(), {operand(out, out.shape()), operand(src, out.shape())});
  walk.parallel([loop](const Run& run) {
    loop(run.data[1], run.strides[1], run.data[0], run.strides[0], run.count);
  });
  return walk.unit_stride();
}

}  // namespace

void copy_(Args args, const Tensor& out) {
  const Tensor& src = args.tensor(1);
  bool dense = true;
  run_kernel(
      [&]() -> KernelCost {
        const bool same = src.dtype() == out.dtype();
        return {KernelName("copy_{}{}{}{}", name(src.dtype()), same ? "" : "_to_",
                           same ? "" : name(out.dtype()), dense ? "" : "_strided"),
                stored_bytes(src) + out.size_bytes(), 0};
      },
      [&] { dense = copy_into(out, src); });
}

void cat(Args args, const Tensor& out) {
  const auto d = static_cast<int>(args[1].integer());
  run_kernel(
      [&]() -> KernelCost {
        return {KernelName("cat_{}", name(out.dtype())), 2 * out.size_bytes(), 0};
      },
      [&] {
        int64_t start = 0;
        for (const Tensor& tensor : args[0].tensors()) {
          const Layout part{tensor.shape(), out.strides()};
          if (tensor.numel() > 0) {
            copy_into(out.with_layout("cat", part, out.offset() + start * out.strides()[d]),
                      tensor);
          }
          start += tensor.shape()[d];
        }
      });
}

}  // namespace epi::cpu
