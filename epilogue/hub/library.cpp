// SPDX-License-Identifier: Apache-2.0
// Loads the libraries of packages from memory, so that the file cannot change between the check and
// the load, and so that two versions are two libraries even if they have the same name. Libraries
// are never closed, because their functions may be running on any thread.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/hub/loaded_code.h"
#include "epilogue/kernel_abi.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/tensor/dlpack.h"

namespace epi::hub {
namespace {

void parallel_ranges(int64_t count, int64_t grain, epi_range_body body, void* context) {
  parallel_for(count, grain, [=](int64_t begin, int64_t end) { body(context, begin, end); });
}

struct DlMatrix {
  DLTensor tensor{};
  int64_t shape[2]{};
  int64_t strides[2]{};
};

void fill(const OperandMatrix& matrix, DlMatrix& out) {
  out.shape[0] = matrix.rows;
  out.shape[1] = matrix.columns;
  out.strides[0] = matrix.row_stride;
  out.strides[1] = 1;
  out.tensor.data = matrix.data;
  out.tensor.device = dl_device(matrix.tensor.device());
  out.tensor.dtype = dl_data_type(matrix.tensor.dtype());
  out.tensor.ndim = 2;
  out.tensor.shape = out.shape;
  out.tensor.strides = out.strides;
}

class Library final : public LoadedCode {
 public:
  struct Function {
    std::string name;
    epi_kernel_function run;
  };
  explicit Library(std::vector<Function> functions) : functions_(std::move(functions)) {}

  void run(const BoundCall& call, Weights /*weights*/) const override {
    std::vector<DlMatrix> matrices(call.operands.size());
    std::vector<DLTensor*> tensors;
    for (size_t i = 0; i < matrices.size(); ++i) {
      fill(call.operands[i], matrices[i]);
      tensors.push_back(&matrices[i].tensor);
    }
    char error[256] = "";
    const epi_kernel_call arguments{sizeof(epi_kernel_call),
                                    static_cast<uint32_t>(tensors.size()),
                                    tensors.data(),
                                    nullptr,
                                    parallel_ranges,
                                    error,
                                    sizeof(error)};
    int32_t code = 0;
    run_kernel(
        [&] {
          return KernelCost{KernelName("epi_pkg_{}_{}", call.kernel->name, name(call.dtype)),
                            call.bytes(), call.flops()};
        },
        [&] { code = find(call.kernel->name)(&arguments); });
    error[sizeof(error) - 1] = '\0';
    if (code != 0) fail(call.kernel->name, "the package's function returned {}: {}", code, error);
  }

 private:
  epi_kernel_function find(const std::string& name) const {
    for (const Function& function : functions_) {
      if (function.name == name) return function.run;
    }
    throw BugError("a library was loaded without " + name);
  }

  std::vector<Function> functions_;
};

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failure("{}", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

// Copies the library to a sealed anonymous file and opens it. The descriptor stays open: if another
// library got the same descriptor number, and thus the same path, the loader would mistake it for
// this one.
Result<void*> open_from_memory(std::string_view bytes) {
  const int fd = ::memfd_create("epilogue-package", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return failure("memfd_create: {}", std::strerror(errno));
  auto written = write_all(fd, bytes);
  const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (written && ::fcntl(fd, F_ADD_SEALS, seals) != 0) {
    written = failure("F_ADD_SEALS: {}", std::strerror(errno));
  }
  void* library = nullptr;
  if (written) {
    library = ::dlopen(fmt::format("/proc/self/fd/{}", fd).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) written = failure("{}", ::dlerror());
  }
  if (written) return library;
  ::close(fd);
  return tl::unexpected(written.error());
}

}  // namespace

Result<std::shared_ptr<const LoadedCode>> load_library(const Manifest& manifest,
                                                       std::string_view bytes) {
  const std::string label = fmt::format("{}@{} {}", manifest.name, manifest.version, manifest.code);
  const auto library = open_from_memory(bytes);
  if (!library) return failure("{}: {}", label, library.error().message);
  using GetApi = const epi_kernel_api* (*)(uint32_t);
  const auto get_api = reinterpret_cast<GetApi>(::dlsym(*library, "epi_kernel_get_api"));
  if (get_api == nullptr) return failure("{}: does not export epi_kernel_get_api", label);
  const epi_kernel_api* api = get_api(EPI_KERNEL_ABI);
  if (api == nullptr || api->struct_size < sizeof(epi_kernel_api) || api->abi != EPI_KERNEL_ABI) {
    return failure("{}: does not support ABI {}", label, EPI_KERNEL_ABI);
  }
  std::vector<Library::Function> functions;
  for (const Export& one : manifest.exports) {
    epi_kernel_function found = nullptr;
    for (uint32_t i = 0; i < api->kernel_count; ++i) {
      if (one.name == api->kernels[i].name) found = api->kernels[i].run;
    }
    if (found == nullptr) return failure("{}: has no function {}", label, one.name);
    functions.push_back({one.name, found});
  }
  return std::make_shared<const Library>(std::move(functions));
}

}  // namespace epi::hub
