// SPDX-License-Identifier: Apache-2.0
// LLVM 19, loaded when the first kernel is compiled. It takes over a hundred megabytes, which
// neither other commands nor code from the cache pay for. A build with CUDA may lack LLVM
// (no_llvm.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/compiler/codegen/target.h"

namespace epi::compiler {

// "19.1.7", or "none" if the build has no LLVM.
std::string_view llvm_version();

// Optimizes and assembles an IR module. Returns a relocatable ELF object. Throws `Error` with the
// package to install if LLVM is missing. Thread-safe.
std::vector<std::byte> assemble(const std::string& ir, const Target& target);

}  // namespace epi::compiler
