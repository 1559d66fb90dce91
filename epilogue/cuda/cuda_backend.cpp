// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/cuda_backend.h"

#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/ops/dispatch.h"

namespace epi {
namespace {

// Runs the kernel with the output's device current. For a copy to the CPU that is the source's
// device.
template <Kernel kKernel>
void on_device(Args args, const Tensor& out) {
  const bool to_cpu = out.device() == kCpu;
  const cuda::DeviceGuard guard(to_cpu ? args.tensor(1).device().index : out.device().index);
  kKernel(args, out);
}

struct Row {
  Op op;
  Kernel kernel;
};

constexpr Row kTable[] = {
#define EPI_POINTWISE(Name, ...) {Op::k##Name, on_device<cuda::pointwise_kernel<Op::k##Name>>},
#include "epilogue/pointwise/operators.def"
    {Op::kAddmm, on_device<cuda::addmm>},
    {Op::kAddmmActivation, on_device<cuda::addmm_activation>},
    {Op::kAmax, on_device<cuda::amax>},
    {Op::kArgmax, on_device<cuda::argmax>},
    {Op::kBmm, on_device<cuda::bmm>},
    {Op::kCat, on_device<cuda::cat>},
    {Op::kCausalSoftmax, on_device<cuda::causal_softmax>},
    {Op::kCopy_, on_device<cuda::copy_>},
    {Op::kGather, on_device<cuda::gather>},
    {Op::kIndexSelect, on_device<cuda::index_select>},
    {Op::kLayerNorm, on_device<cuda::layer_norm>},
    {Op::kMean, on_device<cuda::mean>},
    {Op::kMm, on_device<cuda::mm>},
    {Op::kRmsNorm, on_device<cuda::rms_norm>},
    {Op::kSafeSoftmax, on_device<cuda::safe_softmax>},
    {Op::kSoftmax, on_device<cuda::softmax>},
    {Op::kSum, on_device<cuda::sum>},
    {Op::kTopk, on_device<cuda::topk>},
    {Op::kWhere, on_device<cuda::where>},
};

Result<void> register_all() {
  const auto found = cuda::devices();
  EPI_TRY(found);
  if (found->empty()) return failure("cudaGetDeviceCount: there is no CUDA device");
  if (const auto code = cuda::find_device_code(); code != cudaSuccess) {
    return failure("this build has no code for {} (compute capability {}.{}): {}",
                   found->at(0).name, found->at(0).major, found->at(0).minor,
                   cudaGetErrorString(code));
  }
  register_device_memory(DeviceType::kCuda, &cuda::caching_memory());
  for (const Row& row : kTable) register_backend_kernel(DeviceType::kCuda, row.op, row.kernel);
  return {};
}

}  // namespace

Result<void> register_cuda_backend() {
  static const Result<void> done = register_all();
  EPI_TRY(done);
  return {};
}

}  // namespace epi
