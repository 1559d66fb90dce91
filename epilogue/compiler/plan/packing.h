// SPDX-License-Identifier: Apache-2.0
// Operands in the order in which a GEMM's code reads them: weights once, when a graph is compiled,
// by all threads; rows of x at each call.
#pragma once

#include <cstdint>
#include <span>

#include "epilogue/compiler/codegen/gemm_code.h"
#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

int64_t panels_of(const GemmCode& code, const GemmTile& tile);

// `weights` are [k, n] each, of any strides. Columns and k past the end are zero.
Tensor pack_weights(const GemmCode& code, const GemmTile& tile, std::span<const Tensor> weights);

// Rows of x: k numbers each.
struct Rows {
  const std::byte* data = nullptr;
  int64_t count = 0;
  int64_t row_stride = 0;  // in elements
  int64_t k_stride = 1;
};
// Bytes of the packed rows; 0 where the code reads them as they are.
int64_t packed_rows_bytes(const GemmCode& code, const GemmTile& tile, const Rows& rows);
// Packs rows [begin, end) to their places; begin is a multiple of the tile's rows. One thread.
void pack_rows(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t begin,
               int64_t end, std::byte* packed);

}  // namespace epi::compiler
