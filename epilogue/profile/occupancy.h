// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy of a kernel.
#pragma once

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// Blocks that fit on one multiprocessor at a time; 0 if the kernel cannot run on the device.
int max_active_blocks(const GpuDevice& device, const KernelShape& shape);

// Grid blocks per multiprocessor; 0 if the device is unknown.
double blocks_per_sm(const GpuDevice& device, const KernelShape& shape);
double warps_per_sm(const GpuDevice& device, const KernelShape& shape);

// Resident warps divided by the maximum, in whole percent, assuming that the grid is spread evenly.
int estimated_occupancy_percent(const GpuDevice& device, const KernelShape& shape);

}  // namespace epi::profile
