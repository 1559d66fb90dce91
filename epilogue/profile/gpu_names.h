// SPDX-License-Identifier: Apache-2.0
// Names of CUDA's functions and kernels as a trace shows them.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// The function without the ending that tells its versions apart: `cudaLaunchKernel_v7000` and
// `cudaLaunchKernel_ptsz_v7000` are cudaLaunchKernel.
std::string_view api_name(std::string_view name);

// A C++ kernel's name as its source has it; others as they are.
std::string kernel_name(const char* name);

// Whether a call that started nothing belongs in a trace: the runtime's, but for the small ones
// that surround every launch; of the driver's those that launch or wait.
bool is_worth_showing(bool driver, std::string_view name);

}  // namespace epi::profile
