// SPDX-License-Identifier: Apache-2.0
#include "bench/peak_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "epilogue/compiler/plan/peaks.h"

namespace epi::bench {
namespace {

double flops_per_ns(DType dtype) {
  static std::map<DType, double> measured;
  double& peak = measured[dtype];
  if (peak == 0) peak = compiler::measure_gemm_peak(dtype);
  return peak;
}

double bytes_per_ns(int64_t bytes) {
  static std::map<int64_t, double> measured;
  double& peak = measured[bytes];
  if (peak == 0) peak = compiler::measure_read_peak(bytes);
  return peak;
}

}  // namespace

GemmWork gemm_work(DType dtype, int64_t rows, int64_t inputs, int64_t outputs, int count) {
  const int64_t weights = count * inputs * outputs;
  // int8 weights have a scale of four bytes for every 32.
  const int64_t scales = dtype == DType::kI8 ? weights / 8 : 0;
  return {dtype, 2.0 * static_cast<double>(rows * weights), weights * size_bytes(dtype) + scales};
}

PeakShare peak_share(const GemmWork& work, double ns) {
  const double multiply_ns = work.flops / flops_per_ns(work.dtype);
  const double read_ns = static_cast<double>(work.weight_bytes) / bytes_per_ns(work.weight_bytes);
  return {std::max(multiply_ns, read_ns) / ns, read_ns > multiply_ns};
}

std::string text_of(const PeakShare& share) {
  return fmt::format("{:.0f} % {}", 100 * share.share,
                     share.is_bandwidth ? "bandwidth" : "compute");
}

}  // namespace epi::bench
