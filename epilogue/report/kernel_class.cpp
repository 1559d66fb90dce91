// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernel_class.h"

#include <array>

#include "epilogue/analysis/time/work_groups.h"

namespace epi::report {

using analysis::WorkClass;

const KernelClassWords& words_of(KernelClass kernel) {
  static constexpr std::array<KernelClassWords, kKernelClasses> kWords{{
      {"gemm", "GEMM"},
      {"attention", "attention"},
      {"convolution", "convolution"},
      {"norm", "norm, softmax, reduction"},
      {"pointwise", "pointwise, optimizer"},
      {"communication", "communication"},
      {"copy", "copy, memset"},
      {"other", "other kernels"},
  }};
  return kWords[static_cast<size_t>(kernel)];
}

KernelClass kernel_class(analysis::Kind kind) {
  switch (analysis::work_class(kind)) {
    case WorkClass::kGemm:
      return KernelClass::kGemm;
    case WorkClass::kAttention:
    case WorkClass::kUnfusedAttention:
      return KernelClass::kAttention;
    case WorkClass::kConvolution:
      return KernelClass::kConvolution;
    case WorkClass::kNorm:
    case WorkClass::kSoftmax:
    case WorkClass::kReduction:
      return KernelClass::kNorm;
    case WorkClass::kPointwise:
    case WorkClass::kOptimizer:
      return KernelClass::kPointwise;
    case WorkClass::kCommunication:
      return KernelClass::kCommunication;
    case WorkClass::kHostCopies:
    case WorkClass::kDeviceCopies:
      return KernelClass::kCopy;
    case WorkClass::kIndexing:
    case WorkClass::kOther:
      return KernelClass::kOther;
  }
  return KernelClass::kOther;
}

}  // namespace epi::report
