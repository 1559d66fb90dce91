// SPDX-License-Identifier: Apache-2.0
// The GEMM with vector multiply-add. x is packed into blocks of tile.rows rows (fewer in the last).
// Within a block, the elements of all rows for one k are adjacent, as f32. A panel of weights
// holds, for each k, tile.columns elements of every GEMM, in the dtype of the weights. With pairs,
// an element of x or of the weights is two bf16 of adjacent k, k counts pairs, and an odd last
// element is padded with zero. int8 weights whose scales are in groups are stored by groups of 32
// k, each followed by its scales, and k is zero-padded.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

std::string emit_gemm_vectors(const std::string& name, const GemmCode& code, const GemmTile& tile,
                              const Target& target);

}  // namespace epi::compiler
