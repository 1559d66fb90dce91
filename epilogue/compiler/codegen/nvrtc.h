// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded when the first GPU kernel is compiled. Code from the cache does not need it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace epi::compiler {

// Compiles CUDA C++ to a cubin for an architecture such as "sm_90a". Throws `Error` with the
// package to install if NVRTC is missing. Thread-safe.
std::vector<std::byte> assemble_cuda(const std::string& source, const std::string& architecture);

}  // namespace epi::compiler
