// SPDX-License-Identifier: Apache-2.0
// The lane of CPU kernels in a trace.
#pragma once

#include <cstdint>

namespace epi::profile {

// The process id of CPU kernels. Larger than every Linux process id (at most 2^22) and every device
// index, which traces use as the process id of a GPU.
inline constexpr int64_t kCpuKernelsPid = int64_t{1} << 23;

}  // namespace epi::profile
