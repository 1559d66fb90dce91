// SPDX-License-Identifier: Apache-2.0
// The fields that a kernel's name encodes. A field is unknown if the name does not encode it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epi::analysis {

enum class Library : uint8_t {
  kUnknown,
  kCublas,
  kCutlass,
  kCudnn,
  kAten,
  kTriton,
  kLiger,
  kNccl,
  kFlash,
  kEpilogue,
  kRocblas,
  kCuda,
  kFbgemm,
  kVllm,
  kSglang,
  kFlashInfer,
  kTensorrtLlm,
  kMarlin,
  kDeepEp,
  kSage,
  kMiopen,
  kAiter,
  kCk,
  kRocprim,
  kNamed,  // defined in a names file: see DecodedName::library_name
};
inline constexpr Library kLastLibrary = Library::kRocprim;  // last one with a text

enum class Kind : uint8_t {
  kUnknown,
  kGemm,
  kGemv,
  kSplitKReduce,
  kEpilogue,
  kPointwise,
  kReduction,
  kSoftmax,
  kNorm,
  kAttention,
  kConv,
  kCopy,
  kGather,
  kSort,
  kRandom,
  kOptimizer,
  kComm,
  kMemcpy,
  kMemset,
};

enum class NumberType : uint8_t {
  kUnknown,
  kBf16,
  kF16,
  kTf32,
  kF32,
  kF64,
  kF8e4m3,
  kF8e5m2,
  kF4e2m1,
  kS8,
  kU8,
  kS16,
  kS32,
  kS64,
  kBool,
  kC64,
  kC128,
};

// A matrix times a matrix or a vector.
constexpr bool is_gemm(Kind kind) { return kind == Kind::kGemm || kind == Kind::kGemv; }

// Kinds that compilers generate code for and fuse.
constexpr bool is_generated_kind(Kind kind) {
  switch (kind) {
    case Kind::kPointwise:
    case Kind::kReduction:
    case Kind::kSoftmax:
    case Kind::kNorm:
    case Kind::kCopy:
    case Kind::kGather:
    case Kind::kRandom:
      return true;
    default:
      return false;
  }
}

// Lower case, as in JSON: "cublas", "gemm", "bf16". Empty for kUnknown.
std::string_view text_of(Library library);
std::string_view text_of(Kind kind);
std::string_view text_of(NumberType type);

struct DecodedName {
  Library library = Library::kUnknown;
  std::string library_name{};  // for kNamed
  Kind kind = Kind::kUnknown;
  std::string arch{};  // "sm90", "gfx942"; empty: unknown
  NumberType dtype = NumberType::kUnknown;
  NumberType accumulate = NumberType::kUnknown;
  NumberType output = NumberType::kUnknown;
  std::string layout{};                 // "tn"; empty: unknown
  std::array<int, 3> tile{};            // m, n, k; 0: unknown
  int stages = 0;                       // 0: unknown
  std::vector<int> cluster{};           // as many dimensions as the name gives
  std::vector<std::string> epilogue{};  // in the order of application: "bias", "gelu"
  std::optional<bool> split_k{};
  std::optional<bool> tensor_cores{};
  int alignment = 0;               // of operands, in elements; 0: unknown
  int vector_width = 0;            // elements per thread and access; 0: unknown
  std::string form{};              // of generated code: "persistent reduction"; empty: unknown
  std::string functor{};           // C++ name of the functor that an ATen kernel applies
  std::vector<std::string> ops{};  // ATen's names, if the kernel implements operators
};

// The library in lower case. Empty if unknown.
inline std::string_view library_text(const DecodedName& name) {
  return name.library == Library::kNamed ? std::string_view(name.library_name)
                                         : text_of(name.library);
}

}  // namespace epi::analysis
