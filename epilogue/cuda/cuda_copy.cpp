// SPDX-License-Identifier: Apache-2.0
// Copies on one device and between a device and the CPU. If both sides are contiguous and have the
// same dtype, the copy is one memcpy. Otherwise a kernel on the device rearranges the elements.
#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/operands.h"
#include "epilogue/cuda/pinned.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/tensor/factories.h"

namespace epi::cuda {
namespace {

// Whether both tensors have the same bytes in the same order.
bool is_plain(const Tensor& to, const Tensor& from) {
  return to.dtype() == from.dtype() && to.shape() == from.shape() && to.is_contiguous() &&
         from.is_contiguous();
}

void copy_bytes(const Tensor& to, const Tensor& from, const Stream& stream) {
  check(cudaMemcpyAsync(to.raw_data(), from.raw_data(), static_cast<size_t>(to.size_bytes()),
                        cudaMemcpyDefault, stream.get()),
        "cudaMemcpyAsync");
}

LaunchCost copy_cost(const Tensor& to, const Tensor& from) {
  return {stored_bytes(from) + to.size_bytes(), 0};
}

void copy_on_device(const Tensor& to, const Tensor& from) {
  const Stream& stream = current_stream(to.device().index);
  run_launch([&] { return copy_cost(to, from); },
             [&] {
               if (is_plain(to, from)) return copy_bytes(to, from, stream);
               launch_copy(from.dtype(), to.dtype(), strided_shape({&to, &from}), stream.get());
             });
  check_launch("copy_");
}

// Copies between contiguous tensors, one of them on the CPU. Returns when the copy is done, unless
// `non_blocking` is set and the host memory is pinned.
void transfer(const Tensor& to, const Tensor& from, bool non_blocking) {
  const bool to_cpu = to.device() == kCpu;
  const Tensor& host = to_cpu ? to : from;
  const Stream& stream = current_stream((to_cpu ? from : to).device().index);
  const bool is_async = non_blocking && is_pinned(host);
  const bool is_captured = stream.is_capturing();
  if (is_captured && !is_async) {
    fail(
        "copy_",
        "cannot wait while the stream is being captured: use a non_blocking copy of pinned memory");
  }
  run_launch([&] { return copy_cost(to, from); }, [&] { copy_bytes(to, from, stream); });
  if (is_captured) return;  // the caller keeps the memory alive while the graph is launched
  is_async ? note_pinned_use(host, stream) : stream.synchronize();
}

void copy_to_cpu(const Tensor& out, const Tensor& src, bool non_blocking) {
  const bool is_ready =
      src.dtype() == out.dtype() && src.shape() == out.shape() && src.is_contiguous();
  Tensor dense = src;
  if (!is_ready) {
    dense = empty(out.shape(), {out.dtype(), src.device()});
    epi::copy_(dense, src);
  }
  if (out.is_contiguous()) return transfer(out, dense, non_blocking);
  const Tensor staging = empty(out.shape(), {out.dtype(), kCpu});
  transfer(staging, dense, false);
  epi::copy_(out, staging);
}

void copy_to_device(const Tensor& out, const Tensor& src, bool non_blocking) {
  const Tensor dense = src.is_contiguous() ? src : clone(src);
  if (is_plain(out, dense))
    return transfer(out, dense, non_blocking && dense.storage() == src.storage());
  const Tensor staging = empty(dense.shape(), {dense.dtype(), out.device()});
  transfer(staging, dense, false);
  epi::copy_(out, staging);
}

}  // namespace

void copy_(Args args, const Tensor& out) {
  const Tensor& src = args.tensor(1);
  const bool non_blocking = args.size() > 2 && args[2].flag();
  if (out.device() == kCpu) return copy_to_cpu(out, src, non_blocking);
  if (src.device() == kCpu) return copy_to_device(out, src, non_blocking);
  copy_on_device(out, src);
}

// One copy per tensor.
void cat(Args args, const Tensor& out) {
  const auto d = static_cast<int>(args[1].integer());
  int64_t start = 0;
  for (const Tensor& tensor : args[0].tensors()) {
    const Layout part{tensor.shape(), out.strides()};
    if (tensor.numel() > 0) {
      copy_on_device(out.with_layout("cat", part, out.offset() + start * out.strides()[d]), tensor);
    }
    start += tensor.shape()[d];
  }
}

}  // namespace epi::cuda
