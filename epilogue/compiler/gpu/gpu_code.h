// SPDX-License-Identifier: Apache-2.0
// Generated GPU kernels: from source to machine code to launchable kernels. Needs no CUDA header.
// In a build without CUDA (no_gpu.cpp) all functions fail with that message.
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

// Kernels loaded from a cubin. They are valid as long as this object lives.
class GpuCode {
 public:
  virtual ~GpuCode() = default;
  // The kernel with this name, or null.
  virtual void* look_up(const std::string& name) const = 0;
  // The same for generated code, which must contain it: throws BugError otherwise.
  void* find(const std::string& name) const;
};

// Loads a cubin or zero-terminated PTX. Throws `Error` if the driver rejects it.
std::shared_ptr<const GpuCode> load_gpu_code(std::span<const std::byte> code, int device);
// The sizes of a kernel's parameters, in order.
std::vector<size_t> parameter_bytes(void* kernel);
// Opts the kernel in to more dynamic shared memory than the default limit.
void allow_shared_bytes(void* kernel, int64_t bytes, int device);

// All pointwise kernels as one source, and the name of every kernel. GEMM code is generated when a
// size first needs it (gpu_gemm.h).
Source write_cuda_source(const std::vector<Kernel>& kernels);
// The same plus the GEMMs, in all forms that sizes choose from, for printing.
std::string printable_cuda(const std::vector<Kernel>& kernels, const Source& source);

struct GpuGenerated {
  std::shared_ptr<const GpuCode> code;  // null if the source is empty
  bool from_cache = false;
  std::string cache_error;
};
// Names the machine code of a source, in the cache and in files that are built ahead.
std::string gpu_code_key(const std::string& source, const std::string& architecture);
// Loads code that was built ahead (kernels/glu/cubins.cpp), else from the cache, else compiles it.
GpuGenerated generate_gpu(const Source& source, int device, UseCache cache);

// The current cudaStream_t of the device.
CUstream_st* gpu_stream(int device);
// Whether a kernel may start while the previous kernel on the stream finishes (programmatic
// dependent launch).
bool gpu_overlaps_launches(int device);
// A kernel and its launch configuration. A kernel that `overlaps` waits for its inputs itself:
// `wait_for_inputs` in generated code.
struct GpuLaunch {
  void* kernel = nullptr;
  uint32_t blocks = 0;
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
  bool overlaps = false;
  uint32_t cluster = 1;  // blocks of a cluster
};
void launch_gpu(const GpuLaunch& launch, void** arguments, int device, CUstream_st* stream);

}  // namespace epi::compiler
