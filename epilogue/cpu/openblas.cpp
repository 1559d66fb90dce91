// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cpu/openblas.h"

#include <dlfcn.h>

#include <cstdlib>

#include "epilogue/base/error.h"
#include "epilogue/base/machine.h"

namespace epi::cpu {
namespace {

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

// OpenBLAS 0.3.21 does not recognize CPUs released after it and falls back to SSE3 kernels, five
// times slower on an Emerald Rapids (bench/README.md). We select the kernel by instruction set
// instead of by model.
const char* core_for_cpu() {
#if defined(__x86_64__)
  switch (cpu_isa()) {
    case Isa::kAvx512:
      return "SkylakeX";
    case Isa::kAvx2:
      return "Haswell";
    case Isa::kBaseline:
      break;
  }
#endif
  return nullptr;  // OpenBLAS detects AArch64 CPUs correctly
}

void* open_library() {
  for (const char* file : {"libopenblas.so.0", "libopenblas.so"}) {
    if (void* handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  fail("mm", "cannot load OpenBLAS ({}): install the package libopenblas0", ::dlerror());
}

template <typename F>
void find(void* library, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, symbol));
  if (function == nullptr) fail("mm", "OpenBLAS does not export the function {}", symbol);
}

OpenBlas load() {
  const char* core = core_for_cpu();
  const bool choose = core != nullptr && std::getenv(kCoreVariable) == nullptr;
  if (choose) ::setenv(kCoreVariable, core, 1);
  void* library = open_library();
  if (choose) ::unsetenv(kCoreVariable);
  OpenBlas blas;
  find(library, "cblas_sgemm", blas.sgemm);
  find(library, "cblas_dgemm", blas.dgemm);
  find(library, "openblas_set_num_threads", blas.set_num_threads);
  char* (*corename)() = nullptr;
  find(library, "openblas_get_corename", corename);
  blas.core = corename();
  blas.set_num_threads(1);
  return blas;
}

}  // namespace

const OpenBlas& openblas() {
  static const OpenBlas blas = load();
  return blas;
}

}  // namespace epi::cpu
