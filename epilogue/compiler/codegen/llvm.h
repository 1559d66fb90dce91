// SPDX-License-Identifier: Apache-2.0
// LLVM 19, loaded when the first kernel is compiled: over a hundred megabytes that nothing else
// pays for, code from the cache neither. Builds without EPI_CPU_JIT have these functions too, and
// they say what to install.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/compiler/codegen/target.h"

namespace epi::compiler {

// "19.1.7"; "none" where the build has no LLVM.
std::string_view llvm_version();

// Optimises and assembles a module of IR; returns a relocatable ELF object. Throws `Error` with the
// package to install where LLVM is missing. Any thread.
std::vector<std::byte> assemble(const std::string& ir, const Target& target);

}  // namespace epi::compiler
