// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cpu/openblas.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>

#include "epilogue/base/error.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_backend.h"

namespace epi::cpu {
namespace {

// The address space that OpenBLAS needs: its library, and a work buffer per thread that calls it.
constexpr size_t kLibraryBytes = size_t{64} << 20;
constexpr size_t kWorkBytes = size_t{128} << 20;

// Sets an environment variable that is not set, for its lifetime.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value)
      : name_(value != nullptr && std::getenv(name) == nullptr ? name : nullptr) {
    if (name_ != nullptr) ::setenv(name_, value, 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (name_ != nullptr) ::unsetenv(name_);
  }

 private:
  const char* name_;
};

// OpenBLAS retries forever if it cannot allocate its buffers.
void check_address_space() {
  const size_t bytes = kLibraryBytes + kWorkBytes * static_cast<size_t>(num_threads());
  void* pages =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    fail("mm", "out of memory: OpenBLAS needs {} MB of address space for {} (see `ulimit -v`)",
         bytes >> 20, num_threads() == 1 ? "1 thread" : fmt::format("{} threads", num_threads()));
  }
  ::munmap(pages, bytes);
}

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

std::atomic<bool> may_set_environment = true;

OpenBlas load() {
  check_address_space();
  const ScopedVariable core("OPENBLAS_CORETYPE", may_set_environment ? core_for_cpu() : nullptr);
  // Our own threads call it. Its threads would only hold work buffers.
  const ScopedVariable threads("OPENBLAS_NUM_THREADS", may_set_environment ? "1" : nullptr);
  void* library = open_library();
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

namespace epi {

void set_openblas_environment(bool allowed) { cpu::may_set_environment = allowed; }

}  // namespace epi
