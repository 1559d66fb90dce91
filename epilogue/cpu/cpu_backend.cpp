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
    {Op::kAdd, cpu::add},
    {Op::kAddmm, cpu::addmm},
    {Op::kAddmmActivation, cpu::addmm_activation},
    {Op::kAmax, cpu::amax},
    {Op::kBmm, cpu::bmm},
    {Op::kCat, cpu::cat},
    {Op::kCopy_, cpu::copy_},
    {Op::kDiv, cpu::div},
    {Op::kExp, cpu::exp},
    {Op::kGelu, cpu::gelu},
    {Op::kLayerNorm, cpu::layer_norm},
    {Op::kMean, cpu::mean},
    {Op::kMm, cpu::mm},
    {Op::kMul, cpu::mul},
    {Op::kNeg, cpu::neg},
    {Op::kRelu, cpu::relu},
    {Op::kRmsNorm, cpu::rms_norm},
    {Op::kSigmoid, cpu::sigmoid},
    {Op::kSilu, cpu::silu},
    {Op::kSoftmax, cpu::softmax},
    {Op::kSub, cpu::sub},
    {Op::kSum, cpu::sum},
    {Op::kTanh, cpu::tanh},
};

bool register_all() {
  for (const Row& row : kTable) register_kernel(DeviceType::kCpu, row.op, row.kernel);
  return true;
}

}  // namespace

void register_cpu_backend() { [[maybe_unused]] static const bool done = register_all(); }

}  // namespace epi
