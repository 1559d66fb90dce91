// SPDX-License-Identifier: Apache-2.0
// How this binary was built and what it found: no library is loaded for it, so that it is instant.
#include <fmt/format.h>

#include "epilogue/base/join.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cli/verbs.h"

namespace epi::cli {
namespace {

std::string runtime_text() {
#ifdef EPI_HAS_RUNTIME
  return "on, OpenBLAS loaded at the first GEMM";
#else
  return "off (EPI_RUNTIME=OFF: the reader alone)";
#endif
}

std::string cuda_text() {
#ifdef EPI_CUDA_VERSION
  return "compiled with CUDA " EPI_CUDA_VERSION ", loaded at the first use of a GPU";
#else
  return "off (no nvcc when this was built)";
#endif
}

std::string jit_text() {
#ifdef EPI_LLVM_VERSION
  return "LLVM " EPI_LLVM_VERSION ", loaded at the first compile";
#else
  return "off (no LLVM 19.1 when this was built)";
#endif
}

}  // namespace

std::string version_text() {
  const std::string sanitizers = EPI_SANITIZERS;
  return fmt::format(
      "epilogue {}\n"
      "build    {}, {}{}\n"
      "cpu      {}, {} threads, loops for {} ({})\n"
      "runtime  {}\n"
      "cuda     {}\n"
      "cpu jit  {}",
      EPI_VERSION, EPI_COMPILER, EPI_BUILD_TYPE,
      sanitizers.empty() ? "" : ", sanitizers " + sanitizers, cpu_name(), num_threads(),
      name(cpu_isa()), join(cpu_features(), " "), runtime_text(), cuda_text(), jit_text());
}

}  // namespace epi::cli
