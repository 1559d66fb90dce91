// SPDX-License-Identifier: Apache-2.0
// What the two forms of a GEMM on Hopper have in common, as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// The text with each "@name@" replaced.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string, std::string>>& values);

// `Pair <name>_element(operands, row, column, m, n, v0[, v1])`: the program for two neighbours in a
// row, whose sums are given. Zero outside of m rows and n columns where there are operands to read.
std::string element_function(const std::string& name, const GemmCode& code);

}  // namespace epi::compiler
