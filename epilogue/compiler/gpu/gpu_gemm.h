// SPDX-License-Identifier: Apache-2.0
// A GEMM of our own on a Hopper GPU, with its epilogue (codegen/hopper_code.h): which form runs
// for how many rows, its machine code, made when a size first asks for it, and its launches.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/tensor_map.h"
#include "epilogue/tensor/tensor.h"

struct CUstream_st;

namespace epi::compiler {

// A launch for sizes that are known: everything but addresses is prepared.
class GpuGemmCall {
 public:
  // [n, k] each, row-major; of one GEMM both are the same.
  void set_weights(const std::byte* first, const std::byte* second);
  // The weights may be written by the kernel in front: this one then starts behind it.
  void wait_for_weights() { launch_.overlaps = false; }
  // On a cudaStream_t. Rows of x that the copy engine cannot read in place are copied first.
  void start(const std::byte* x, std::byte* out, std::span<std::byte* const> operands, int device,
             CUstream_st* stream) const;

 private:
  friend class GpuGemm;
  GpuLaunch launch_;
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
  // `processors`: blocks that run at a time, 0 for all that the GPU has.
  GpuGemm(std::string name, GemmCode code, std::vector<Tensor> weights, int device, UseCache cache,
          int processors = 0);

  // For `rows` of x, `row_stride` elements apart, in the form that suits them. Makes code where no
  // size before had it.
  GpuGemmCall bind(int64_t rows, int64_t row_stride) const;
  GpuGemmCall bind(int64_t rows, int64_t row_stride, const HopperTile& tile) const;
  GpuGemmCall bind(int64_t rows, int64_t row_stride, const HopperStream& stream) const;
  // There is enough to do for the whole GPU.
  bool is_fast_for(int64_t rows) const;

  // The forms that there is code for: "tiles of 128 rows by 96 columns".
  std::vector<std::string> forms() const;
  // All code so far came from the cache.
  bool is_from_cache() const;
  // Why the cache could not keep some of it.
  std::string not_kept() const;

 private:
  void* find_kernel(const std::string& name, const std::string& text, int64_t shared_bytes,
                    const std::string& form) const;
  GpuGemmCall prepared(GpuGemmCall call, int64_t rows, int64_t row_stride) const;

  struct Made {
    std::string form;
    GpuGenerated generated;
  };
  std::string name_;
  GemmCode code_;
  std::vector<Tensor> weights_;
  int device_;
  int processors_;
  UseCache cache_;
  mutable std::mutex making_;
  mutable std::map<std::string, Made> made_;  // by text
};

// The GPU has GEMMs of ours: it is a Hopper, compute capability 9.0.
bool gpu_has_custom_gemms(int device);

}  // namespace epi::compiler
