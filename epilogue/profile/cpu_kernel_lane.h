// SPDX-License-Identifier: Apache-2.0
// Where kernels of the CPU lie in a trace.
#pragma once

#include <cstdint>

namespace epi::profile {

// The process of the CPU's kernels: above every process id of Linux (at most 2^22) and every index
// of a device, which other traces use.
inline constexpr int64_t kCpuKernelsPid = int64_t{1} << 23;

}  // namespace epi::profile
