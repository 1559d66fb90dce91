// SPDX-License-Identifier: Apache-2.0
// Uses the limits of CUDA's occupancy calculator for compute capability 7.0 and later. The result
// equals the one in PyTorch's traces (tests/profile/occupancy_test.cpp) except in one case: Kineto
// compares a kernel's shared memory with the default limit of a block (48 KiB) and prints 0 % for
// every kernel that opts in to more, such as cuBLAS kernels on Hopper. We report their actual
// occupancy.
#include "epilogue/profile/occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace epi::profile {
namespace {

constexpr int kSchedulersPerSm = 4;  // each has a quarter of the registers
constexpr int kRegisterUnit = 256;   // allocation granularity per warp
constexpr int64_t kSharedUnitBytes = 128;
constexpr int kUnlimited = std::numeric_limits<int>::max();

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int threads_per_block(const KernelShape& shape) {
  return shape.block[0] * shape.block[1] * shape.block[2];
}

int warps_per_block(const GpuDevice& device, const KernelShape& shape) {
  return static_cast<int>(round_up(threads_per_block(shape), device.warp_size) / device.warp_size);
}

int blocks_by_registers(const GpuDevice& device, const KernelShape& shape) {
  if (shape.registers == 0) return kUnlimited;
  const int64_t per_warp = round_up(int64_t{shape.registers} * device.warp_size, kRegisterUnit);
  const int64_t warps = device.registers_per_sm / kSchedulersPerSm / per_warp * kSchedulersPerSm;
  return static_cast<int>(warps / warps_per_block(device, shape));
}

int blocks_by_shared_memory(const GpuDevice& device, const KernelShape& shape) {
  if (shape.shared_bytes > device.shared_per_block_optin_bytes) return 0;
  const int64_t bytes =
      round_up(shape.shared_bytes + device.shared_reserved_bytes, kSharedUnitBytes);
  return bytes == 0 ? kUnlimited : static_cast<int>(device.shared_per_sm_bytes / bytes);
}

}  // namespace

int max_active_blocks(const GpuDevice& device, const KernelShape& shape) {
  const int threads = threads_per_block(shape);
  if (device.sms == 0 || threads <= 0 || threads > device.max_threads_per_block) return 0;
  const int max_warps = device.max_threads_per_sm / device.warp_size;
  return std::min({max_warps / warps_per_block(device, shape), device.max_blocks_per_sm,
                   blocks_by_registers(device, shape), blocks_by_shared_memory(device, shape)});
}

double blocks_per_sm(const GpuDevice& device, const KernelShape& shape) {
  if (device.sms == 0) return 0;
  return static_cast<double>(shape.grid[0]) * shape.grid[1] * shape.grid[2] / device.sms;
}

double warps_per_sm(const GpuDevice& device, const KernelShape& shape) {
  return blocks_per_sm(device, shape) * warps_per_block(device, shape);
}

int estimated_occupancy_percent(const GpuDevice& device, const KernelShape& shape) {
  if (device.sms == 0) return 0;
  const double blocks =
      std::min<double>(max_active_blocks(device, shape), blocks_per_sm(device, shape));
  const int max_warps = device.max_threads_per_sm / device.warp_size;
  const double share = blocks * warps_per_block(device, shape) / max_warps;
  return static_cast<int>(std::lround(100 * share));
}

}  // namespace epi::profile
