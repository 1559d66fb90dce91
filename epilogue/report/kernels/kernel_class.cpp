// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernels/kernel_class.h"

#include <iterator>

#include "epilogue/analysis/time/work_groups.h"

namespace epi::report {

using analysis::WorkClass;

std::span<const KernelClassWords> Words<KernelClass>::rows() {
  static constexpr KernelClassWords kRows[] = {
      {"gemm", "GEMM"},
      {"attention", "attention"},
      {"convolution", "convolution"},
      {"norm", "norm, softmax, reduction"},
      {"pointwise", "pointwise, optimizer"},
      {"communication", "communication"},
      {"copy", "copy, memset"},
      {"other", "other kernels"},
  };
  static_assert(std::size(kRows) == kKernelClasses);
  return kRows;
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
