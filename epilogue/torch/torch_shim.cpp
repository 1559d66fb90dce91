// SPDX-License-Identifier: Apache-2.0
#include "epilogue/torch/torch_shim.h"

#include <dlfcn.h>

namespace epi::torch {
namespace {

// Depends on libtorch_cpu.so, so a lookup finds the functions of both.
constexpr const char* kFile = "libtorch_cuda.so";

// Looks up functions until one is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}
  template <typename F>
  void find(const char* name, F*& function) {
    function = reinterpret_cast<F*>(::dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace

std::string load_shim(TorchShim& shim) {
  void* library = ::dlopen(kFile, RTLD_LAZY | RTLD_NOLOAD);  // stays loaded
  if (library == nullptr) return "PyTorch is not loaded, or has no CUDA (libtorch_cuda.so)";
  Finder torch(library);
  torch.find("aoti_torch_library_init_impl", shim.library_init_impl);
  torch.find("aoti_torch_library_impl", shim.library_impl);
  torch.find("aoti_torch_call_dispatcher", shim.call_dispatcher);
  torch.find("aoti_torch_get_dim", shim.get_dim);
  torch.find("aoti_torch_get_sizes", shim.get_sizes);
  torch.find("aoti_torch_get_strides", shim.get_strides);
  torch.find("aoti_torch_get_dtype", shim.get_dtype);
  torch.find("aoti_torch_get_device_index", shim.get_device_index);
  torch.find("aoti_torch_get_data_ptr", shim.get_data_ptr);
  torch.find("aoti_torch_empty_strided", shim.empty_strided);
  torch.find("aoti_torch_copy_", shim.copy);
  torch.find("aoti_torch_delete_tensor_object", shim.delete_tensor);
  torch.find("aoti_torch_get_current_cuda_stream", shim.get_current_cuda_stream);
  torch.find("aoti_torch_dtype_bfloat16", shim.dtype_bfloat16);
  torch.find("aoti_torch_dtype_float16", shim.dtype_float16);
  torch.find("aoti_torch_dtype_uint8", shim.dtype_uint8);
  torch.find("aoti_torch_device_type_cuda", shim.device_type_cuda);
  if (torch.missing().empty()) return "";
  return "PyTorch does not export " + torch.missing() + ": version 2.9 or later is needed";
}

}  // namespace epi::torch
