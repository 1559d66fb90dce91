// SPDX-License-Identifier: Apache-2.0
// Chooses the kind and tile of a CPU GEMM, and emits its code.
#pragma once

#include <string>

#include "epilogue/compiler/codegen/gemm_code.h"
#include "epilogue/compiler/codegen/target.h"

namespace epi::compiler {

// The tile for this code on this CPU.
GemmTile choose_tile(const GemmCode& code, const Target& target);

// Returns the IR of a GemmFunction, or of a GemmTilesFunction if the tile's kind is kTiles.
std::string emit_gemm(const std::string& name, const GemmCode& code, const Target& target);

}  // namespace epi::compiler
