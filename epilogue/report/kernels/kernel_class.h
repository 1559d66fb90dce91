// SPDX-License-Identifier: Apache-2.0
// Kinds of kernels as the report page shows them: each has one color in every section.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/report/description/description.h"

namespace epi::report {

enum class KernelClass : uint8_t {
  kGemm,
  kAttention,
  kConvolution,
  kNorm,
  kPointwise,
  kCommunication,
  kCopy,
  kOther,
};
inline constexpr size_t kKernelClasses = 8;

struct KernelClassWords {
  const char* key;   // in JSON, and the color of the page: "gemm"
  const char* what;  // "GEMM"
};
template <>
struct Words<KernelClass> {
  static constexpr const char* kName = "kernel_class";
  static std::span<const KernelClassWords> rows();
};

KernelClass kernel_class(analysis::Kind kind);

}  // namespace epi::report
