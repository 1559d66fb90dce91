// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/packing.h"

#include <algorithm>
#include <cstring>

#include "epilogue/base/thread_pool.h"
#include "epilogue/compile/codegen/gemm_tiles.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Where an element of one panel goes, in elements from the panel's first.
struct PanelLayout {
  GemmKind kind;
  int64_t columns;  // of each product
  int64_t products;

  int64_t place(int64_t k, int64_t product, int64_t column) const {
    const int64_t across = product * columns + column;
    if (kind == GemmKind::kVectors) return k * products * columns + across;
    // Step, register, pair of k, column, k of the pair.
    constexpr int64_t kHalf = kTileColumns / 2;
    return ((k / kTileDepth * 2 + across / kHalf) * (kTileDepth / 2) + k % kTileDepth / 2) *
               kTileColumns +
           across % kHalf * 2 + k % 2;
  }
};

// Weights are copied bit by bit: `Element` is an integer as wide as they are.
template <typename Element>
void pack_panel(const GemmCode& code, const PanelLayout& layout, std::span<const Tensor> weights,
                int64_t panel, Element* to) {
  // 16 numbers of k are a cache line of the weights as checkpoints have them, column by column.
  constexpr int64_t kBlock = 16;
  const int64_t first = panel * layout.columns;
  const int64_t columns = std::min(layout.columns, code.n - first);
  for (int64_t k0 = 0; k0 < code.k; k0 += kBlock) {
    const int64_t k1 = std::min(k0 + kBlock, code.k);
    for (int64_t product = 0; product < layout.products; ++product) {
      const Tensor& w = weights[static_cast<size_t>(product)];
      const auto* from = reinterpret_cast<const Element*>(w.raw_data());
      const int64_t k_stride = w.strides()[0];
      for (int64_t c = 0; c < columns; ++c) {
        const Element* column = from + (first + c) * w.strides()[1];
        for (int64_t k = k0; k < k1; ++k) to[layout.place(k, product, c)] = column[k * k_stride];
      }
    }
  }
}

// One block of rows: for each k, the rows' numbers next to each other.
void pack_block(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t block,
                float* to) {
  constexpr int64_t kChunk = 256;
  float line[kChunk];
  const auto convert = cpu::converter(code.dtype, DType::kF32);
  const int64_t first = block * tile.rows;
  const int64_t height = std::min<int64_t>(tile.rows, rows.count - first);
  for (int64_t r = 0; r < height; ++r) {
    const std::byte* row = rows.data + (first + r) * rows.row_stride * size_bytes(code.dtype);
    for (int64_t k0 = 0; k0 < code.k; k0 += kChunk) {
      const int64_t count = std::min(kChunk, code.k - k0);
      convert(row + k0 * rows.k_stride * size_bytes(code.dtype), rows.k_stride, line, 1, count);
      for (int64_t k = 0; k < count; ++k) to[(k0 + k) * height + r] = line[k];
    }
  }
}

// Rows for tiles: dense, padded with zeros to whole steps of k.
void pack_plain(const GemmCode& code, const Rows& rows, int64_t begin, int64_t end,
                std::byte* packed) {
  const auto copy = cpu::converter(code.dtype, code.dtype);
  const int64_t element = size_bytes(code.dtype);
  const int64_t padded = rounded_up(code.k, kTileDepth);
  for (int64_t r = begin; r < end; ++r) {
    std::byte* to = packed + r * padded * element;
    copy(rows.data + r * rows.row_stride * element, rows.k_stride, to, 1, code.k);
    std::memset(to + code.k * element, 0, static_cast<size_t>((padded - code.k) * element));
  }
}

}  // namespace

int64_t panels_of(const GemmCode& code, const GemmTile& tile) {
  return (code.n + tile.columns - 1) / tile.columns;
}

Tensor pack_weights(const GemmCode& code, const GemmTile& tile, std::span<const Tensor> weights) {
  const PanelLayout layout{tile.kind, tile.columns, code.products};
  const int64_t depth = tile.kind == GemmKind::kTiles ? rounded_up(code.k, kTileDepth) : code.k;
  const int64_t panel_elements = depth * tile.columns * code.products;
  const int64_t panels = panels_of(code, tile);
  const Tensor packed = empty({panels, panel_elements}, {code.dtype, kCpu});
  const bool padded = depth != code.k || code.n % tile.columns != 0;
  parallel_for(panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      std::byte* to = packed.raw_data() + panel * panel_elements * size_bytes(code.dtype);
      if (padded) {
        std::memset(to, 0, static_cast<size_t>(panel_elements * size_bytes(code.dtype)));
      }
      if (size_bytes(code.dtype) == 4) {
        pack_panel(code, layout, weights, panel, reinterpret_cast<uint32_t*>(to));
      } else {
        pack_panel(code, layout, weights, panel, reinterpret_cast<uint16_t*>(to));
      }
    }
  });
  return packed;
}

int64_t packed_rows_bytes(const GemmCode& code, const GemmTile& tile, const Rows& rows) {
  if (tile.kind == GemmKind::kVectors) return rows.count * code.k * 4;
  if (rows.k_stride == 1 && code.k % kTileDepth == 0) return 0;
  return rows.count * rounded_up(code.k, kTileDepth) * size_bytes(code.dtype);
}

void pack_rows(const GemmCode& code, const GemmTile& tile, const Rows& rows, std::byte* packed) {
  constexpr int64_t kGrainElements = 16 * 1024;
  if (tile.kind == GemmKind::kTiles) {
    parallel_for(rows.count, std::max<int64_t>(kGrainElements / code.k, 1),
                 [&](int64_t begin, int64_t end) { pack_plain(code, rows, begin, end, packed); });
    return;
  }
  const int64_t block_elements = tile.rows * code.k;
  const int64_t blocks = (rows.count + tile.rows - 1) / tile.rows;
  parallel_for(blocks, std::max<int64_t>(kGrainElements / block_elements, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t block = begin; block < end; ++block) {
                   pack_block(code, tile, rows, block,
                              reinterpret_cast<float*>(packed) + block * block_elements);
                 }
               });
}

}  // namespace epi::compiler
