// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

std::string_view text_of(Library library) {
  switch (library) {
    case Library::kUnknown:
    case Library::kNamed:
      return "";
    case Library::kCublas:
      return "cublas";
    case Library::kCutlass:
      return "cutlass";
    case Library::kCudnn:
      return "cudnn";
    case Library::kAten:
      return "aten";
    case Library::kTriton:
      return "triton";
    case Library::kLiger:
      return "liger";
    case Library::kNccl:
      return "nccl";
    case Library::kFlash:
      return "flash";
    case Library::kEpilogue:
      return "epilogue";
    case Library::kRocblas:
      return "rocblas";
    case Library::kCuda:
      return "cuda";
    case Library::kFbgemm:
      return "fbgemm";
    case Library::kVllm:
      return "vllm";
    case Library::kSglang:
      return "sglang";
    case Library::kFlashInfer:
      return "flashinfer";
    case Library::kTensorrtLlm:
      return "tensorrt_llm";
    case Library::kMarlin:
      return "marlin";
    case Library::kDeepEp:
      return "deep_ep";
    case Library::kSage:
      return "sage_attention";
    case Library::kMiopen:
      return "miopen";
    case Library::kAiter:
      return "aiter";
    case Library::kCk:
      return "composable_kernel";
    case Library::kRocprim:
      return "rocprim";
  }
  return "";
}

std::string_view text_of(Kind kind) {
  switch (kind) {
    case Kind::kUnknown:
      return "";
    case Kind::kGemm:
      return "gemm";
    case Kind::kGemv:
      return "gemv";
    case Kind::kSplitKReduce:
      return "splitk_reduce";
    case Kind::kEpilogue:
      return "epilogue";
    case Kind::kPointwise:
      return "pointwise";
    case Kind::kReduction:
      return "reduction";
    case Kind::kSoftmax:
      return "softmax";
    case Kind::kNorm:
      return "norm";
    case Kind::kAttention:
      return "attention";
    case Kind::kConv:
      return "conv";
    case Kind::kCopy:
      return "copy";
    case Kind::kGather:
      return "gather";
    case Kind::kSort:
      return "sort";
    case Kind::kRandom:
      return "random";
    case Kind::kOptimizer:
      return "optimizer";
    case Kind::kComm:
      return "comm";
    case Kind::kMemcpy:
      return "memcpy";
    case Kind::kMemset:
      return "memset";
  }
  return "";
}

std::string_view text_of(NumberType type) {
  switch (type) {
    case NumberType::kUnknown:
      return "";
    case NumberType::kBf16:
      return "bf16";
    case NumberType::kF16:
      return "f16";
    case NumberType::kTf32:
      return "tf32";
    case NumberType::kF32:
      return "f32";
    case NumberType::kF64:
      return "f64";
    case NumberType::kF8e4m3:
      return "f8e4m3";
    case NumberType::kF8e5m2:
      return "f8e5m2";
    case NumberType::kF4e2m1:
      return "f4e2m1";
    case NumberType::kS8:
      return "s8";
    case NumberType::kU8:
      return "u8";
    case NumberType::kS16:
      return "s16";
    case NumberType::kS32:
      return "s32";
    case NumberType::kS64:
      return "s64";
    case NumberType::kBool:
      return "bool";
    case NumberType::kC64:
      return "c64";
    case NumberType::kC128:
      return "c128";
  }
  return "";
}

}  // namespace epi::analysis
