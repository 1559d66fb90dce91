// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/decode.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "epilogue/analysis/names/families.h"

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
bool read_words(std::string_view name, DecodedName& out) {
  return read_nvjet(name, out) || read_package(name, out) || read_fused(name, out) ||
         read_xmma(name, out) || read_generation(name, out) || read_cutlass_words(name, out) ||
         read_tensile(name, out) || read_copy_or_set(name, out) || read_nccl(name, out) ||
         read_fmha(name, out) || read_liger(name, out) || read_own_cpu(name, out);
}

bool read_function(std::string_view name, DecodedName& out) {
  const CppName cpp = read_cpp_name(name);
  return read_aten(cpp, out) || read_cutlass_cpp(name, cpp, out) || read_flash(cpp, out) ||
         read_cudnn(name, cpp, out) || read_cub(cpp, out) || read_cublas_cpp(name, cpp, out) ||
         read_own_cuda(cpp, out);
}

}  // namespace

DecodedName decode_name(std::string_view name) {
  std::string text;
  if (name.starts_with("_Z")) text = demangled(name);
  if (!text.empty()) name = text;
  DecodedName out;
  // Only functions have a return type, and most names do.
  if (!name.starts_with("void ")) {
    if (read_words(name, out)) return out;
    out = DecodedName();
  }
  if (read_function(name, out)) return out;
  out = DecodedName();
  read_plain_words(read_cpp_name(name).base, out);
  return out;
}

}  // namespace epi::analysis
