// SPDX-License-Identifier: Apache-2.0
// llvm.h for a build with CUDA and without LLVM: compiling for the CPU fails and names the package
// to install.
#include "epilogue/base/error.h"
#include "epilogue/compiler/codegen/llvm.h"

namespace epi::compiler {

std::string_view llvm_version() { return "none"; }

std::vector<std::byte> assemble(const std::string& /*ir*/, const Target& /*target*/) {
  fail("compile", "this build has no LLVM: install the package llvm-19-dev and build again");
}

}  // namespace epi::compiler
