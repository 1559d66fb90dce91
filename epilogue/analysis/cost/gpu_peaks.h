// SPDX-License-Identifier: Apache-2.0
// Peak rates of GPUs from their vendors' datasheets: dense GEMMs (no sparsity), at boost clock.
#pragma once

#include <optional>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

struct GpuPeaks {
  std::string_view title;   // "H200 SXM"
  std::string_view source;  // the datasheet
  // TFLOP/s. 0: not in the datasheet, or the GPU has no such unit.
  double f16 = 0;  // f16 and bf16 on tensor cores
  double tf32 = 0;
  double f8 = 0;
  double f32 = 0;  // without tensor cores
  double f64 = 0;  // the faster of tensor cores and CUDA cores
  double s8 = 0;
  double memory_tb_s = 0;
  bool has_bf16 = true;  // tensor cores before Ampere support only f16

  // Peak TFLOP/s for GEMMs of this type. 0 if unknown.
  double of(NumberType type) const;
};

// Looks up the name that the driver reports: "NVIDIA H100 80GB HBM3". None if the GPU is not
// listed.
std::optional<GpuPeaks> gpu_peaks(std::string_view device_name);

// The GPU that this project's constants were measured on. For all others, only datasheet values are
// known.
inline constexpr std::string_view kMeasuredGpu = "H200";
inline bool is_measured_gpu(std::string_view device_name) {
  const size_t at = device_name.find(kMeasuredGpu);
  // Not a GH200, whose memory and host differ.
  return at != std::string_view::npos && (at == 0 || device_name[at - 1] == ' ');
}

}  // namespace epi::analysis
