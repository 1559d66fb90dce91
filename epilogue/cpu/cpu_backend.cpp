// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cpu/cpu_backend.h"

#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/ops/dispatch.h"

namespace epi {
namespace {

struct Row {
  Op op;
  Kernel kernel;
};

constexpr Row kTable[] = {
#define EPI_POINTWISE(Name, ...) {Op::k##Name, cpu::pointwise_kernel<Op::k##Name>},
#include "epilogue/pointwise/operators.def"
    {Op::kAddmm, cpu::addmm},
    {Op::kAddmmActivation, cpu::addmm_activation},
    {Op::kAmax, cpu::amax},
    {Op::kArgmax, cpu::argmax},
    {Op::kBmm, cpu::bmm},
    {Op::kCat, cpu::cat},
    {Op::kCausalSoftmax, cpu::causal_softmax},
    {Op::kCopy_, cpu::copy_},
    {Op::kGather, cpu::gather},
    {Op::kIndexSelect, cpu::index_select},
    {Op::kInt8Mm, cpu::int8_mm},
    {Op::kLayerNorm, cpu::layer_norm},
    {Op::kMean, cpu::mean},
    {Op::kMm, cpu::mm},
    {Op::kRmsNorm, cpu::rms_norm},
    {Op::kSafeSoftmax, cpu::safe_softmax},
    {Op::kSoftmax, cpu::softmax},
    {Op::kSum, cpu::sum},
    {Op::kTopk, cpu::topk},
    {Op::kWhere, cpu::where},
};

bool register_all() {
  for (const Row& row : kTable) register_backend_kernel(DeviceType::kCpu, row.op, row.kernel);
  return true;
}

}  // namespace

void register_cpu_backend() { [[maybe_unused]] static const bool done = register_all(); }

}  // namespace epi
