// SPDX-License-Identifier: Apache-2.0
// The functions of PyTorch's stable C interface that the operator uses, declared here so that no
// PyTorch header is needed. They are looked up in the libraries that the process has loaded. All
// are part of the stable set of PyTorch 2.9 (tests/install/wheel_cuda checks this).
#pragma once

#include <cstdint>
#include <string>

namespace epi::torch {

struct OpaqueTensor;
struct OpaqueLibrary;
using TensorHandle = OpaqueTensor*;    // owned: a tensor on the heap
using LibraryHandle = OpaqueLibrary*;  // registrations
// An argument or a result: an int64_t, a TensorHandle, or for an optional tensor a pointer to
// another StableValue on the heap, null for none.
using StableValue = uint64_t;
using Kernel = void (*)(StableValue* stack, uint64_t arguments, uint64_t results);

// Functions return zero for success, except those that return a constant.
struct TorchShim {
  int32_t (*library_init_impl)(const char* name_space, const char* key, const char* file,
                               uint32_t line, LibraryHandle* library) = nullptr;
  int32_t (*library_impl)(LibraryHandle library, const char* name, Kernel kernel) = nullptr;
  int32_t (*call_dispatcher)(const char* name, const char* overload, StableValue* stack) = nullptr;
  int32_t (*get_dim)(TensorHandle tensor, int64_t* dim) = nullptr;
  int32_t (*get_sizes)(TensorHandle tensor, int64_t** sizes) = nullptr;
  int32_t (*get_strides)(TensorHandle tensor, int64_t** strides) = nullptr;
  int32_t (*get_dtype)(TensorHandle tensor, int32_t* dtype) = nullptr;
  int32_t (*get_device_index)(TensorHandle tensor, int32_t* index) = nullptr;
  int32_t (*get_data_ptr)(TensorHandle tensor, void** data) = nullptr;
  int32_t (*empty_strided)(int64_t dim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                           int32_t device_type, int32_t device_index,
                           TensorHandle* tensor) = nullptr;
  int32_t (*copy)(TensorHandle target, TensorHandle source, int32_t non_blocking) = nullptr;
  int32_t (*delete_tensor)(TensorHandle tensor) = nullptr;
  int32_t (*get_current_cuda_stream)(int32_t device_index, void** stream) = nullptr;
  int32_t (*dtype_bfloat16)() = nullptr;
  int32_t (*dtype_float16)() = nullptr;
  int32_t (*dtype_uint8)() = nullptr;
  int32_t (*device_type_cuda)() = nullptr;
};

// Returns an empty string, or why PyTorch's functions cannot be used.
std::string load_shim(TorchShim& shim);

}  // namespace epi::torch
