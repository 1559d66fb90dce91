// SPDX-License-Identifier: Apache-2.0
// The custom kernels of a gated MLP, for any number of rows: gate and up with the activation as one
// GEMM, down as the other, and for small MLPs both as one kernel. Launches and tensor maps of
// weights are cached.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/gpu/gpu_mlp.h"
#include "epilogue/pointwise/table.h"

namespace epi::compiler {

struct GluCode {
  DType dtype = DType::kBF16;
  pointwise::Function activation = pointwise::Function::kSilu;
  int device = 0;
  int64_t k = 0;    // columns of x
  int64_t n = 0;    // of the hidden activations
  int64_t out = 0;  // columns of y
  bool gate_bias = false;
  bool up_bias = false;
  bool down_bias = false;
};

// The sources of all code that such blocks of any size use.
std::vector<std::string> glu_sources(const GluCode& code);

class GluRows {
 public:
  explicit GluRows(const GluCode& code);

  const GpuGemm& gate_up() const { return gate_up_; }
  const GpuGemm& down() const { return down_; }
  const GpuMlp& mlp() const { return mlp_; }
  // Tasks that generate the code of every form. They may run in parallel.
  std::vector<std::function<void()>> forms() const;

  // A bias is null if the code has none.
  struct Weights {
    const std::byte* gate = nullptr;
    const std::byte* up = nullptr;
    const std::byte* down = nullptr;
    const std::byte* gate_bias = nullptr;
    const std::byte* up_bias = nullptr;
    const std::byte* down_bias = nullptr;
  };
  void start_gate_up(int64_t rows, const std::byte* x, int64_t x_stride, const Weights& weights,
                     std::byte* hidden, CUstream_st* stream) const;
  void start_down(int64_t rows, const std::byte* hidden, const Weights& weights, std::byte* y,
                  CUstream_st* stream) const;
  // The whole MLP. y must not overlap x.
  void start_mlp(int64_t rows, const std::byte* x, int64_t x_stride, const Weights& weights,
                 std::byte* y, CUstream_st* stream) const;

 private:
  // The launches for a number of rows.
  struct Bound {
    GpuGemmCall gate_up;
    GpuGemmCall down;
  };
  std::shared_ptr<const Bound> bind(int64_t rows) const;
  // What a launch needs, from the caches.
  struct Launch {
    std::shared_ptr<const Bound> bound;
    GpuGemmWeight first;
    GpuGemmWeight second;
  };
  enum class Part : uint8_t { kGateUp, kDown };
  Launch launch_of(int64_t rows, Part part, const std::byte* first, const std::byte* second) const;
  const TensorMap* find_map(const GpuGemmCall& call, const std::byte* weight) const;

  GluCode code_;
  GpuGemm gate_up_;
  GpuGemm down_;
  GpuMlp mlp_;
  mutable std::shared_mutex mutex_;
  mutable std::map<int64_t, std::shared_ptr<const Bound>> bound_;
  struct MapKey {
    const std::byte* weight;
    int64_t n;
    int64_t k;
    int box_rows;
    auto operator<=>(const MapKey&) const = default;
  };
  mutable std::map<MapKey, TensorMap> maps_;
};

}  // namespace epi::compiler
