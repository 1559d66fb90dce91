// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis {
namespace {

using namespace names;

// The text of a mangled name ("_ZN2at6native..."); empty where it is none.
std::string demangled(std::string_view name) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

// Names of words joined by underscores, most of them known by their first one.
bool read_words(std::string_view name, KernelName& out) {
  return read_nvjet(name, out) || read_package(name, out) || read_fused(name, out) ||
         read_xmma(name, out) || read_generation(name, out) || read_cutlass_words(name, out) ||
         read_tensile(name, out) || read_copy_or_set(name, out) || read_nccl(name, out) ||
         read_fmha(name, out) || read_liger(name, out) || read_own_cpu(name, out);
}

bool read_function(std::string_view name, KernelName& out) {
  const CppName cpp = read_cpp_name(name);
  return read_aten(cpp, out) || read_cutlass_cpp(name, cpp, out) || read_flash(cpp, out) ||
         read_cudnn(name, cpp, out) || read_cub(cpp, out) || read_cublas_cpp(name, cpp, out) ||
         read_own_cuda(cpp, out);
}

}  // namespace

std::string_view text_of(Library library) {
  static constexpr std::string_view kTexts[] = {"",      "cublas",   "cutlass", "cudnn",
                                                "aten",  "triton",   "liger",   "nccl",
                                                "flash", "epilogue", "rocblas", "cuda"};
  return kTexts[static_cast<size_t>(library)];
}

std::string_view text_of(Kind kind) {
  static constexpr std::string_view kTexts[] = {
      "",        "gemm",      "gemv",      "splitk_reduce", "epilogue", "pointwise", "reduction",
      "softmax", "norm",      "attention", "conv",          "copy",     "gather",    "sort",
      "random",  "optimizer", "comm",      "memcpy",        "memset"};
  return kTexts[static_cast<size_t>(kind)];
}

std::string_view text_of(NumberType type) {
  static constexpr std::string_view kTexts[] = {"",       "bf16",   "f16",    "tf32", "f32", "f64",
                                                "f8e4m3", "f8e5m2", "f4e2m1", "s8",   "u8",  "s16",
                                                "s32",    "s64",    "bool",   "c64",  "c128"};
  return kTexts[static_cast<size_t>(type)];
}

KernelName read_kernel_name(std::string_view name) {
  std::string text;
  if (name.starts_with("_Z")) text = demangled(name);
  if (!text.empty()) name = text;
  KernelName out;
  // Only functions have a return type, and most names do.
  if (!name.starts_with("void ")) {
    if (read_words(name, out)) return out;
    out = KernelName();
  }
  if (read_function(name, out)) return out;
  out = KernelName();
  read_plain_words(read_cpp_name(name).base, out);
  return out;
}

}  // namespace epi::analysis
