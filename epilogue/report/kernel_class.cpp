// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernel_class.h"

#include <array>

namespace epi::report {

using analysis::Kind;

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

KernelClass kernel_class(Kind kind) {
  switch (kind) {
    case Kind::kGemm:
    case Kind::kGemv:
    case Kind::kSplitKReduce:
    case Kind::kEpilogue:
      return KernelClass::kGemm;
    case Kind::kAttention:
      return KernelClass::kAttention;
    case Kind::kConv:
      return KernelClass::kConvolution;
    case Kind::kNorm:
    case Kind::kSoftmax:
    case Kind::kReduction:
      return KernelClass::kNorm;
    case Kind::kPointwise:
    case Kind::kOptimizer:
      return KernelClass::kPointwise;
    case Kind::kComm:
      return KernelClass::kCommunication;
    case Kind::kCopy:
    case Kind::kMemcpy:
    case Kind::kMemset:
      return KernelClass::kCopy;
    case Kind::kGather:
    case Kind::kSort:
    case Kind::kRandom:
    case Kind::kUnknown:
      return KernelClass::kOther;
  }
  return KernelClass::kOther;
}

}  // namespace epi::report
