// SPDX-License-Identifier: Apache-2.0
// A custom GEMM with its epilogue on a Hopper GPU (codegen/hopper_code.h): chooses the form for a
// number of rows, generates its machine code when a size first needs it, and launches it.
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

// A weight matrix, [n, k], row-major.
struct GpuGemmWeight {
  const std::byte* data = nullptr;
  TensorMap map{};  // for forms that load tiles
};

// A launch for fixed sizes: everything except addresses is prepared.
class GpuGemmCall {
 public:
  // For a single GEMM both are the same.
  void set_weights(const std::byte* first, const std::byte* second);
  // For callers that keep weights: with its map, if this form uses one.
  GpuGemmWeight weight(const std::byte* data) const;
  bool uses_maps() const { return weight_box_rows_ > 0; }
  int64_t weight_rows() const { return n_; }
  int64_t depth() const { return x_.columns; }
  int weight_box_rows() const { return weight_box_rows_; }
  // The preceding kernel may write the weights, so they must not be loaded before it has finished.
  void wait_for_weights();
  // Launches on a cudaStream_t. Rows of x that TMA cannot read in place are copied first.
  void start(const std::byte* x, std::byte* out, std::span<std::byte* const> operands, int device,
             CUstream_st* stream) const;
  // The same with other weights, and x with another row stride.
  void start(const std::byte* x, int64_t row_stride, const GpuGemmWeight& first,
             const GpuGemmWeight& second, std::byte* out, std::span<std::byte* const> operands,
             int device, CUstream_st* stream) const;

 private:
  friend class GpuGemm;
  GpuLaunch launch_;
  int x_box_rows_ = 0;
  int weight_box_rows_ = 0;    // 0: the form uses no tensor maps
  int strip_ = 0;              // output columns per TMA store; 0: stored by address
  int decode_stages_ = 0;      // of the decode form
  bool weights_early_ = true;  // of the decode form
  MapMatrix x_;                // without an address
  int64_t n_ = 0;
  GpuGemmWeight weights_[2];
};

// The CUDA C++ source of one form, which depends on no size.
std::string gemm_source(const std::string& name, const GemmCode& code, const HopperTile& tile);
std::string gemm_source(const std::string& name, const GemmCode& code, const HopperStream& stream);
std::string gemm_source(const std::string& name, const GemmCode& code, const HopperDecode& decode);
// The kernels of these forms.
std::string stream_name(const std::string& gemm);
std::string decode_name(const std::string& gemm);

class GpuGemm {
 public:
  // The weights are [n, k], row-major, and are not copied. If they are empty, each call sets its
  // own. `processors` limits the number of concurrent blocks, 0 for all SMs of the GPU.
  GpuGemm(std::string name, GemmCode code, std::vector<Tensor> weights, int device, UseCache cache,
          int processors = 0);

  // Binds the GEMM to `rows` rows of x, `row_stride` elements apart, in the form that suits them.
  // Generates code if no previous size needed it.
  GpuGemmCall bind(int64_t rows, int64_t row_stride) const;
  GpuGemmCall bind(int64_t rows, int64_t row_stride, const HopperTile& tile) const;
  GpuGemmCall bind(int64_t rows, int64_t row_stride, const HopperStream& stream) const;
  GpuGemmCall bind(int64_t rows, int64_t row_stride, const HopperDecode& decode) const;
  // Whether k is large enough for the tile.
  bool fits(const HopperTile& tile) const { return code_.k >= tile.min_depth(code_); }
  // Whether there is enough work to fill the GPU.
  bool is_fast_for(int64_t rows) const;

  // The forms generated so far: "tiles of 128 rows by 96 columns".
  std::vector<std::string> forms() const;
  // Whether all code so far came from the cache.
  bool is_from_cache() const;
  // Why some of the code could not be cached.
  std::string cache_error() const;

 private:
  void* find_kernel(const std::string& name, const std::string& source, int64_t shared_bytes,
                    const std::string& form) const;
  GpuGemmCall finish_bind(GpuGemmCall call, int64_t rows, int64_t row_stride) const;

  struct Variant {
    std::string form;
    GpuGenerated generated;
  };
  std::string name_;
  GemmCode code_;
  std::vector<Tensor> weights_;
  int device_;
  int processors_;
  UseCache cache_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Variant> variants_;  // by source
};

// Whether the GPU has custom GEMMs: it is a Hopper, compute capability 9.0.
bool gpu_has_custom_gemms(int device);

}  // namespace epi::compiler
