// SPDX-License-Identifier: Apache-2.0
// What the two forms of a GEMM on Hopper have in common, as text.
#pragma once

#include <string>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// A struct with `Pair apply(operands, row, column, m, n, v0[, v1])`: the program for two neighbours
// in a row, whose sums are given. Zero outside of m rows and n columns where there are operands to
// read.
std::string epilogue_struct(const std::string& name, const GemmCode& code);
// What it is called, of the kernel of this name.
std::string epilogue_name(const std::string& name);

}  // namespace epi::compiler
