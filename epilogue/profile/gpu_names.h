// SPDX-License-Identifier: Apache-2.0
// Names of CUDA functions and kernels as shown in a trace.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// Removes the version suffix: `cudaLaunchKernel_v7000` and `cudaLaunchKernel_ptsz_v7000` become
// cudaLaunchKernel.
std::string_view api_name(std::string_view name);

// Demangles the name of a C++ kernel. Returns other names unchanged.
std::string kernel_name(const char* name);

// Whether a call that launched no work is shown in a trace: runtime calls except the small ones
// that surround every launch, and driver calls that launch or wait.
bool is_worth_showing(bool driver, std::string_view name);

}  // namespace epi::profile
