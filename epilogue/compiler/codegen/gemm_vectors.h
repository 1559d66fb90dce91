// SPDX-License-Identifier: Apache-2.0
// The GEMM by vector multiply-add. x is packed: blocks of tile.rows rows, fewer in the last, in
// each the rows' numbers of one k next to each other, as f32. A panel of weights has, for each k,
// tile.columns numbers of every GEMM, in the dtype of the weights. With pairs, a number of x and
// one of the weights are two bf16 of neighbouring k, k counts pairs, and an odd last one is filled
// up with zero.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

std::string emit_gemm_vectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
                              const Target& target);

}  // namespace epi::compiler
