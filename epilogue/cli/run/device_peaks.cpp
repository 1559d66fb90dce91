// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/device_peaks.h"

#include <algorithm>

#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/compiler/plan/peaks.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::cli {
namespace {

constexpr int kTries = 5;
constexpr int64_t kGemmSize = 8192;  // 1.6 ms in bf16 on an H200, far above launch latency
constexpr int64_t kCopyBytes = int64_t{1} << 30;  // many times the L2 cache

double best_ns(const Forward& forward, Device device) {
  forward();
  double best = timed(forward, 1, device);
  for (int i = 1; i < kTries; ++i) best = std::min(best, timed(forward, 4, device));
  return best;
}

Peaks measure_gpu(Device device, DType dtype) {
  // Random values: a GEMM of zeros draws less power and runs faster than one of real data.
  const Dims square{kGemmSize, kGemmSize};
  const Tensor a = randn(square, 1, {dtype, device});
  const Tensor b = randn(square, 2, {dtype, device});
  const Tensor source = empty({kCopyBytes}, {DType::kBool, device});
  const Tensor target = empty({kCopyBytes}, {DType::kBool, device});
  const double flops = 2.0 * kGemmSize * kGemmSize * kGemmSize;
  return {flops / best_ns([&] { mm(a, b); }, device),
          2.0 * kCopyBytes / best_ns([&] { copy_(target, source); }, device)};
}

}  // namespace

Peaks measure_peaks(Device device, DType dtype, int64_t bytes) {
  if (device != kCpu) return measure_gpu(device, dtype);
  if (dtype == DType::kI8) {
    return {compiler::measure_gemm_peak(dtype), compiler::measure_read_peak(bytes)};
  }
  constexpr int64_t kSize = 768;
  const Tensor a = randn({kSize, kSize}, 1, {dtype, device});
  const Tensor b = randn({kSize, kSize}, 2, {dtype, device});
  const double library = 2.0 * kSize * kSize * kSize / best_ns([&] { mm(a, b); }, device);
  return {std::max(compiler::measure_gemm_peak(dtype), library),
          compiler::measure_read_peak(bytes)};
}

}  // namespace epi::cli
