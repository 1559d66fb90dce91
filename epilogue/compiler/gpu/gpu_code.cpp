// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/gpu_code.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

#include "epilogue/base/hash.h"
#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/nvrtc.h"
#include "epilogue/compiler/plan/code_cache.h"
#include "epilogue/cuda/attribute.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/driver_function.h"
#include "epilogue/cuda/stream.h"

namespace epi::compiler {
namespace {

class LoadedCubin final : public GpuCode {
 public:
  explicit LoadedCubin(std::span<const std::byte> cubin) {
    cuda::check(
        cudaLibraryLoadData(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  }
  LoadedCubin(const LoadedCubin&) = delete;
  LoadedCubin& operator=(const LoadedCubin&) = delete;
  ~LoadedCubin() override { cudaLibraryUnload(library_); }

  void* look_up(const std::string& name) const override {
    cudaKernel_t kernel = nullptr;
    const cudaError_t code = cudaLibraryGetKernel(&kernel, library_, name.c_str());
    if (code != cudaSuccess) cudaGetLastError();
    return code == cudaSuccess ? kernel : nullptr;
  }

 private:
  cudaLibrary_t library_ = nullptr;
};

// "sm_90a": with the architecture-specific instructions, if there are any.
std::string architecture(int device) {
  const int major = cuda::attribute(cudaDevAttrComputeCapabilityMajor, device);
  const int minor = cuda::attribute(cudaDevAttrComputeCapabilityMinor, device);
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

// The folder `cubins` beside the library that contains this function, as in a wheel. Empty for a
// program, whose name may be relative to the current folder, which others may control.
std::filesystem::path built_ahead_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&built_ahead_folder), &info) == 0) return {};
  const std::filesystem::path file(info.dli_fname);
  if (!file.is_absolute() || !file.filename().string().starts_with("libepilogue_glu.so")) return {};
  return file.parent_path() / "cubins";
}

std::optional<std::vector<std::byte>> find_built_ahead(const std::string& key) {
  static const std::filesystem::path folder = built_ahead_folder();
  if (folder.empty()) return std::nullopt;
  std::ifstream file(folder / (key + ".cubin"), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return std::vector(bytes.begin(), bytes.end());
}

// Returns null for a cache entry that cannot be loaded. It is then compiled again.
std::shared_ptr<const GpuCode> try_load(std::span<const std::byte> cubin) {
  try {
    return std::make_shared<const LoadedCubin>(cubin);
  } catch (const Error&) {
    return nullptr;
  }
}

// Code that is in use in this process, by key. The layers of a model share it.
class LoadedCode {
 public:
  std::shared_ptr<const GpuCode> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = codes_.find(key);
    return found == codes_.end() ? nullptr : found->second.lock();
  }
  void add(const std::string& key, const std::shared_ptr<const GpuCode>& code) {
    const std::lock_guard lock(mutex_);
    codes_[key] = code;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const GpuCode>> codes_;
};

LoadedCode& loaded_code() {
  static auto* const loaded = new LoadedCode;
  return *loaded;
}

}  // namespace

void* GpuCode::find(const std::string& name) const {
  void* kernel = look_up(name);
  if (kernel == nullptr) throw BugError("generated code has no kernel " + name);
  return kernel;
}

std::shared_ptr<const GpuCode> load_gpu_code(std::span<const std::byte> code, int device) {
  const cuda::DeviceGuard guard(device);
  return std::make_shared<const LoadedCubin>(code);
}

// Uses the driver API: the runtime does not provide this.
std::vector<size_t> parameter_bytes(void* kernel) {
  static const auto info =
      cuda::driver_function<decltype(&cuKernelGetParamInfo)>("cuKernelGetParamInfo", 12040);
  std::vector<size_t> sizes;
  size_t offset = 0;
  size_t size = 0;
  while (info(static_cast<CUkernel>(kernel), sizes.size(), &offset, &size) == CUDA_SUCCESS) {
    sizes.push_back(size);
  }
  return sizes;
}

void allow_shared_bytes(void* kernel, int64_t bytes, int device) {
  const cuda::DeviceGuard guard(device);
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "cudaFuncSetAttribute");
}

// Not with NVRTC's own version: querying it would load the library.
std::string gpu_code_key(const std::string& source, const std::string& architecture) {
  return sha256(fmt::format("NVRTC for CUDA {}\n{}\n{}", CUDART_VERSION, architecture, source));
}

GpuGenerated generate_gpu(const Source& source, int device, UseCache cache) {
  GpuGenerated result;
  if (source.ir.empty()) return result;
  const cuda::DeviceGuard guard(device);
  const std::string target = architecture(device);
  const std::string key = gpu_code_key(source.ir, target);
  if (cache == UseCache::kNo) {
    result.code = std::make_shared<const LoadedCubin>(assemble_cuda(source.ir, target));
    return result;
  }
  const std::string device_key = fmt::format("{} on {}", key, device);
  result.code = loaded_code().find(device_key);
  if (result.code == nullptr) {
    if (const auto built = find_built_ahead(key)) result.code = try_load(*built);
  }
  if (result.code == nullptr) {
    const auto cached = find_cached(key);
    if (!cached) result.cache_error = cached.error().message;
    if (cached && *cached) result.code = try_load(**cached);
  }
  result.from_cache = result.code != nullptr;
  if (!result.from_cache) {
    const auto cubin = assemble_cuda(source.ir, target);
    result.code = std::make_shared<const LoadedCubin>(cubin);
    if (const auto stored = store_cached(key, cubin); !stored) {
      result.cache_error = stored.error().message;
    }
  }
  loaded_code().add(device_key, result.code);
  return result;
}

CUstream_st* gpu_stream(int device) { return cuda::current_stream(device).get(); }

bool gpu_overlaps_launches(int device) {
  return cuda::attribute(cudaDevAttrComputeCapabilityMajor, device) >= 9;
}

// Uses the driver API, which takes less time than cudaLaunchKernelExC.
void launch_gpu(const GpuLaunch& launch, void** arguments, int device, CUstream_st* stream) {
  static const auto start =
      cuda::driver_function<decltype(&cuLaunchKernelEx)>("cuLaunchKernelEx", 12000);
  const cuda::DeviceGuard guard(device);
  CUlaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (launch.overlaps) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  if (launch.cluster > 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {launch.cluster, 1, 1};
  }
  CUlaunchConfig config{};
  config.gridDimX = launch.blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = launch.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = launch.shared_bytes;
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  auto* kernel = static_cast<CUfunction>(launch.kernel);  // a CUkernel serves as well
  CUresult result = start(&config, kernel, arguments, nullptr);
  if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
    cuda::check(cudaSetDevice(device), "cudaSetDevice");  // the first CUDA call of this thread
    result = start(&config, kernel, arguments, nullptr);
  }
  if (result != CUDA_SUCCESS) {
    fail("cuda", "cuLaunchKernelEx: {}", cudaGetErrorString(static_cast<cudaError_t>(result)));
  }
}

}  // namespace epi::compiler
