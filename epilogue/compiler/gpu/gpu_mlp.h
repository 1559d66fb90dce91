// SPDX-License-Identifier: Apache-2.0
// Two small GEMMs as one kernel on a Hopper GPU (the MLP form of codegen/hopper_code.h).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/gpu/gpu_code.h"

struct CUstream_st;

namespace epi::compiler {

// The addresses of a launch. For a single first GEMM, w0 and w1 are the same.
struct GpuMlpData {
  const std::byte* x = nullptr;
  int64_t x_stride = 0;
  const std::byte* w0 = nullptr;
  const std::byte* w1 = nullptr;
  const std::byte* down = nullptr;
  std::byte* y = nullptr;
  std::span<std::byte* const> operands;       // of the first epilogue
  std::span<std::byte* const> down_operands;  // of the second
};

class GpuMlp {
 public:
  // `name` is the name of the first GEMM.
  GpuMlp(const std::string& name, GemmCode first, GemmCode second, int device, UseCache cache);

  const std::string& name() const { return name_; }
  const GemmCode& first() const { return first_; }
  const GemmCode& second() const { return second_; }
  // The form for this many rows, unless two kernels serve them better.
  std::optional<HopperMlp> choose(int64_t rows) const;
  // Whether it is chosen for any number of rows: above kMaxStreamRows, two kernels are slowest.
  bool is_useful() const { return choose(kMaxStreamRows + 1).has_value(); }
  // Generates the code if that has not been done.
  void prepare() const;
  // If `early`, the preceding kernel does not write the weights.
  void start(const HopperMlp& mlp, int64_t rows, const GpuMlpData& data, bool early,
             CUstream_st* stream) const;

  bool is_from_cache() const;
  std::string cache_error() const;
  bool is_prepared() const;

 private:
  void* kernel() const;

  std::string name_;
  GemmCode first_;
  GemmCode second_;
  int device_;
  int processors_;
  UseCache cache_;
  mutable std::mutex mutex_;
  mutable std::optional<GpuGenerated> generated_;
};

// The CUDA C++ source, which depends on no size.
std::string mlp_source(const std::string& name, const GemmCode& first, const GemmCode& second);
// The kernel of this form.
std::string mlp_name(const std::string& gemm);

}  // namespace epi::compiler
