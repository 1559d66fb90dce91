// SPDX-License-Identifier: Apache-2.0
// Generated kernels on a GPU: source to machine code to something that can be launched. No CUDA
// header is needed; in a build without CUDA (no_gpu.cpp) all of this says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/plan/generate.h"

struct CUstream_st;

namespace epi::compiler {

// Kernels loaded from a cubin; they stay as long as it lives.
class GpuCode {
 public:
  virtual ~GpuCode() = default;
  // The kernel of that name; null where there is none.
  virtual void* look_up(const std::string& name) const = 0;
  // The same of generated code, where it must be: throws BugError.
  void* find(const std::string& name) const;
};

// A cubin, or PTX ended by a zero. Throws `Error` where the driver does not take it.
std::shared_ptr<const GpuCode> load_gpu_code(std::span<const std::byte> code, int device);
// The sizes of a kernel's parameters, in order.
std::vector<size_t> parameter_bytes(void* kernel);
// A kernel may have more shared memory than the usual only when that was asked for.
void allow_shared_bytes(void* kernel, int64_t bytes, int device);

// All pointwise kernels as one source, and every kernel's name. (Code of GEMMs is made when a
// size asks for it: gpu_gemm.h.)
Source write_cuda_source(const std::vector<Kernel>& kernels);
// The same and GEMMs, in the forms that sizes choose from, as it is printed.
std::string shown_cuda(const std::vector<Kernel>& kernels, const Source& source);

struct GpuGenerated {
  std::shared_ptr<const GpuCode> code;  // null where the source is empty
  bool from_cache = false;
  std::string not_kept;
};
// Compiles the source for `device`, or takes it from the cache, and loads it.
GpuGenerated generate_gpu(const Source& source, int device, UseCache cache);

// The cudaStream_t that is current on the device.
CUstream_st* gpu_stream(int device);
// A kernel may start while the one before it on the stream ends.
bool gpu_overlaps_launches(int device);
// A kernel and the shape of its launches. One that `overlaps` waits for what it reads by itself:
// `wait_for_inputs` in generated code.
struct GpuLaunch {
  void* kernel = nullptr;
  uint32_t blocks = 0;
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
  bool overlaps = false;
};
void launch_gpu(const GpuLaunch& launch, void** arguments, int device, CUstream_st* stream);

}  // namespace epi::compiler
