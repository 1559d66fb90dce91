// SPDX-License-Identifier: Apache-2.0
// Text shared by the forms of a Hopper GEMM.
#pragma once

#include <string>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// A struct with `Pair apply(operands, row, column, m, n, v0[, v1])`: the program for two adjacent
// elements of a row, given their sums. If there are operands to read, it returns zero outside m
// rows and n columns.
std::string epilogue_struct(const std::string& name, const GemmCode& code);
// The name of that struct for the kernel `name`.
std::string epilogue_name(const std::string& name);

}  // namespace epi::compiler
