// SPDX-License-Identifier: Apache-2.0
// `--version`: how this binary was built, and the CPU it runs on. Loads no library, so that it
// returns at once.
#include <fmt/format.h>

#include "epilogue/base/join.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {
namespace {

std::string runtime_text() {
#ifdef EPI_HAS_RUNTIME
  return "on, OpenBLAS loaded at the first GEMM";
#else
  return "off (built with EPI_RUNTIME=OFF: trace verbs only)";
#endif
}

std::string cuda_text() {
#ifdef EPI_CUDA_VERSION
  return "compiled with CUDA " EPI_CUDA_VERSION ", loaded at the first use of a GPU";
#else
  return "off (nvcc not found at build time)";
#endif
}

std::string jit_text() {
#ifdef EPI_LLVM_VERSION
  return "LLVM " EPI_LLVM_VERSION ", loaded at the first compile";
#else
  return "off (LLVM 19.1 not found at build time)";
#endif
}

}  // namespace

std::string version_number() { return EPI_VERSION; }

std::string version_text() {
  const std::string sanitizers = EPI_SANITIZERS;
  return fmt::format(
      "epilogue {}\n"
      "build    {}, {}{}\n"
      "cpu      {}, {}\n"
      "isa      {} (CPU features: {})\n"
      "runtime  {}\n"
      "cuda     {}\n"
      "cpu jit  {}",
      EPI_VERSION, EPI_COMPILER, EPI_BUILD_TYPE,
      sanitizers.empty() ? "" : ", sanitizers " + sanitizers, cpu_name(),
      report::plural(num_threads(), "thread"), name(cpu_isa()), join(cpu_features(), " "),
      runtime_text(), cuda_text(), jit_text());
}

}  // namespace epi::cli
