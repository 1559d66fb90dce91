// SPDX-License-Identifier: Apache-2.0
// A product of our own on a Hopper GPU, with its epilogue (codegen/hopper_code.h): which form runs
// for how many rows, its machine code, made when a size first asks for it, and its launches.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compile/codegen/hopper_code.h"
#include "epilogue/compile/gpu/gpu_code.h"
#include "epilogue/compile/gpu/tensor_map.h"
#include "epilogue/tensor/tensor.h"

struct CUstream_st;

namespace epi::compiler {

// A launch for sizes that are known: everything but addresses is prepared.
class GpuGemmCall {
 public:
  // [n, k] each, row-major; of one product both are the same.
  void set_weights(const std::byte* first, const std::byte* second);
  // On a cudaStream_t. Rows of x that the copy engine cannot read in place are copied first.
  void start(const std::byte* x, std::byte* out, std::span<std::byte* const> operands, int device,
             CUstream_st* stream) const;

 private:
  friend class GpuGemm;
  void* kernel_ = nullptr;
  uint32_t blocks_ = 0;
  uint32_t threads_ = 0;
  uint32_t shared_bytes_ = 0;
  int x_box_rows_ = 0;
  int weight_box_rows_ = 0;
  int strip_ = 0;  // of the output, columns that are stored at once; 0: stored by address
  MapMatrix x_;    // without its address
  int64_t n_ = 0;
  TensorMap weights_[2]{};
};

class GpuGemm {
 public:
  // The weights are [n, k], row-major, and stay where they are; without, each call sets its own.
  GpuGemm(std::string name, GemmCode code, std::vector<Tensor> weights, int device, UseCache cache);

  // For `rows` of x, `row_stride` elements apart. Makes code where no size before had this form.
  GpuGemmCall bind(int64_t rows, int64_t row_stride) const;
  // There is enough to do for the whole GPU.
  bool is_fast_for(int64_t rows) const;
  // All code so far came from the cache.
  bool is_from_cache() const;
  // Why the cache could not keep some of it.
  std::string not_kept() const;

 private:
  GpuGemmCall bind_tiles(int64_t rows) const;
  GpuGemmCall bind_stream(int64_t rows) const;
  void* find_kernel(const std::string& name, const std::string& text, int64_t shared_bytes) const;

  std::string name_;
  GemmCode code_;
  std::vector<Tensor> weights_;
  int device_;
  int processors_;
  UseCache cache_;
  mutable std::mutex making_;
  mutable std::map<std::string, GpuGenerated> codes_;  // by text
};

// The GPU has products of ours: it is a Hopper, compute capability 9.0.
bool gpu_has_own_products(int device);

}  // namespace epi::compiler
