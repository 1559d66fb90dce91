// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/cublaslt.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "epilogue/cuda/device_guard.h"

namespace epi::cuda {
namespace {

// By name: in a program that already uses cuBLASLt this is the same library.
constexpr const char* kFile = "libcublasLt.so.13";

void* open_library() {
  if (void* handle = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL)) return handle;
  fail("mm", "cannot load cuBLASLt ({}): install the CUDA toolkit 13", ::dlerror());
}

template <typename F>
void find(void* library, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, symbol));
  if (function == nullptr) fail("mm", "cuBLASLt has no function {}", symbol);
}

CublasLt load() {
  void* library = open_library();
  CublasLt lt;
  find(library, "cublasLtCreate", lt.create);
  find(library, "cublasLtMatmul", lt.matmul);
  find(library, "cublasLtMatmulDescInit_internal", lt.desc_init);
  find(library, "cublasLtMatmulDescSetAttribute", lt.desc_set);
  find(library, "cublasLtMatrixLayoutInit_internal", lt.layout_init);
  find(library, "cublasLtMatrixLayoutSetAttribute", lt.layout_set);
  find(library, "cublasLtMatmulPreferenceInit_internal", lt.preference_init);
  find(library, "cublasLtMatmulPreferenceSetAttribute", lt.preference_set);
  find(library, "cublasLtMatmulAlgoGetHeuristic", lt.heuristic);
  find(library, "cublasLtGetStatusString", lt.status_string);
  return lt;
}

}  // namespace

const CublasLt& cublaslt() {
  static const CublasLt lt = load();
  return lt;
}

cublasLtHandle_t cublaslt_handle(int device) {
  static std::mutex mutex;
  static auto* const handles = new std::map<int, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = (*handles)[device];
  if (handle == nullptr) {
    const DeviceGuard guard(device);
    check(cublaslt().create(&handle), "cublasLtCreate");
  }
  return handle;
}

void check(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  fail("cuda", "{}: {}", call, cublaslt().status_string(status));
}

}  // namespace epi::cuda
