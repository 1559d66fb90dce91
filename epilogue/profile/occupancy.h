// SPDX-License-Identifier: Apache-2.0
// How full a kernel can keep a GPU's multiprocessors.
#pragma once

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// Blocks that one multiprocessor holds at a time; 0 where the kernel cannot run there.
int max_active_blocks(const GpuDevice& device, const KernelShape& shape);

// Blocks of the grid for each multiprocessor; 0 where the device is not known.
double blocks_per_sm(const GpuDevice& device, const KernelShape& shape);
double warps_per_sm(const GpuDevice& device, const KernelShape& shape);

// Resident warps over the most that fit, in whole percent: of a grid that is spread evenly.
int estimated_occupancy_percent(const GpuDevice& device, const KernelShape& shape);

}  // namespace epi::profile
