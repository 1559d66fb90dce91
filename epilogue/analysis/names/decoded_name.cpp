// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/decoded_name.h"

#include <iterator>

namespace epi::analysis {

std::string_view text_of(Library library) {
  static constexpr std::string_view kTexts[] = {"",      "cublas",   "cutlass", "cudnn",
                                                "aten",  "triton",   "liger",   "nccl",
                                                "flash", "epilogue", "rocblas", "cuda"};
  static_assert(std::size(kTexts) == static_cast<size_t>(Library::kCuda) + 1,
                "a text for each value");
  return kTexts[static_cast<size_t>(library)];
}

std::string_view text_of(Kind kind) {
  static constexpr std::string_view kTexts[] = {
      "",        "gemm",      "gemv",      "splitk_reduce", "epilogue", "pointwise", "reduction",
      "softmax", "norm",      "attention", "conv",          "copy",     "gather",    "sort",
      "random",  "optimizer", "comm",      "memcpy",        "memset"};
  static_assert(std::size(kTexts) == static_cast<size_t>(Kind::kMemset) + 1,
                "a text for each value");
  return kTexts[static_cast<size_t>(kind)];
}

std::string_view text_of(NumberType type) {
  static constexpr std::string_view kTexts[] = {"",       "bf16",   "f16",    "tf32", "f32", "f64",
                                                "f8e4m3", "f8e5m2", "f4e2m1", "s8",   "u8",  "s16",
                                                "s32",    "s64",    "bool",   "c64",  "c128"};
  static_assert(std::size(kTexts) == static_cast<size_t>(NumberType::kC128) + 1,
                "a text for each value");
  return kTexts[static_cast<size_t>(type)];
}

}  // namespace epi::analysis
