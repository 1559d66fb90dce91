// SPDX-License-Identifier: Apache-2.0
// Packs GEMM operands into the order in which the code reads them: the weights once, at compile
// time, on all threads, and the rows of x in each call. Plans with the same weights share them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"
#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

int64_t panels_of(const GemmCode& code, const GemmTile& tile);

// Each of `weights` is [k, n] with any strides, followed by their scales if these are in groups.
// Columns and k are zero-padded.
Tensor pack_weights(const GemmCode& code, const GemmTile& tile, std::span<const Tensor> weights);
// The same, but returns what was packed before from these weights as they are now, if a plan still
// uses it. Thread-safe.
std::shared_ptr<const Tensor> find_packed_weights(const GemmCode& code, const GemmTile& tile,
                                                  const std::vector<Tensor>& weights);

// Rows of x, with k elements each.
struct Rows {
  const std::byte* data = nullptr;
  int64_t count = 0;
  int64_t row_stride = 0;  // in elements
  int64_t k_stride = 1;
};
// Size of the packed rows.
int64_t packed_rows_bytes(const GemmCode& code, const GemmTile& tile, const Rows& rows);
// Packs rows [begin, end) into their final position. `begin` is a multiple of the tile's rows.
// Single-threaded.
void pack_rows(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t begin,
               int64_t end, std::byte* packed);

}  // namespace epi::compiler
