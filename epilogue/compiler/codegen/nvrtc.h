// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded when the first kernel is compiled for a GPU; code from the cache does without.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace epi::compiler {

// Machine code (a cubin) of CUDA C++ for an architecture: "sm_90a". Throws `Error` with what to
// install where NVRTC is missing. Any thread.
std::vector<std::byte> assemble_cuda(const std::string& source, const std::string& architecture);

}  // namespace epi::compiler
