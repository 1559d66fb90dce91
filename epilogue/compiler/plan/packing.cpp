// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/packing.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/codegen/gemm_int8.h"
#include "epilogue/compiler/codegen/gemm_mmla.h"
#include "epilogue/compiler/codegen/gemm_tiles.h"
#include "epilogue/compiler/plan/int8_packing.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

constexpr int64_t kMaxRows = 16;  // of a tile in vector code

int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// k is rounded up to a multiple of this.
int64_t depth_of(const GemmTile& tile) {
  switch (tile.kind) {
    case GemmKind::kVectors:
    case GemmKind::kHalves:
    case GemmKind::kFmlal:
      return 1;
    case GemmKind::kPairs:
      return 2;
    case GemmKind::kMmla:
      return kMmlaDepth;
    case GemmKind::kSmmla:
    case GemmKind::kDots:
    case GemmKind::kVnni:
    case GemmKind::kInt8Tiles:
      return kInt8Step;
    case GemmKind::kTiles:
      break;
  }
  return kTileDepth;
}

bool has_float_groups(const GemmCode& code) {
  return code.int8 && !code.int8->int8_input && code.int8->in_groups;
}

// Length of a packed row in words: f32 values, pairs of bf16, or f16 values.
int64_t row_words(const GemmCode& code, const GemmTile& tile) {
  if (has_float_groups(code)) return rounded_up(code.k, kInt8Step);
  return rounded_up(code.k, depth_of(tile)) / depth_of(tile);
}

int64_t word_bytes(const GemmTile& tile) { return tile.kind == GemmKind::kFmlal ? 2 : 4; }

// The position of an element in a panel, in elements from the start of the panel.
struct PanelLayout {
  GemmKind kind;
  int64_t columns;  // of each GEMM
  int64_t gemms;

  int64_t place(int64_t k, int64_t gemm, int64_t column) const {
    const int64_t across = gemm * columns + column;
    if (kind == GemmKind::kVectors || kind == GemmKind::kFmlal) return k * gemms * columns + across;
    if (kind == GemmKind::kHalves) {
      const int64_t words = gemms * columns / 2;
      return (k * words + across % words) * 2 + across / words;
    }
    if (kind == GemmKind::kPairs) return (k / 2 * gemms * columns + across) * 2 + k % 2;
    if (kind == GemmKind::kMmla) {
      return (k / kMmlaDepth * gemms * columns + across) * kMmlaDepth + k % kMmlaDepth;
    }
    // Order: step, register, pair of k, column, k within the pair.
    constexpr int64_t kHalf = kTileColumns / 2;
    return ((k / kTileDepth * 2 + across / kHalf) * (kTileDepth / 2) + k % kTileDepth / 2) *
               kTileColumns +
           across % kHalf * 2 + k % 2;
  }
};

// Weights are copied as bits: `Element` is an unsigned integer of the same size.
template <typename Element>
void pack_panel(const GemmCode& code, const PanelLayout& layout, std::span<const Tensor> weights,
                int64_t panel, Element* to) {
  // In checkpoints k is contiguous: 16 elements fill a cache line.
  constexpr int64_t kBlock = 16;
  const int64_t first = panel * layout.columns;
  const int64_t columns = std::min(layout.columns, code.n - first);
  for (int64_t k0 = 0; k0 < code.k; k0 += kBlock) {
    const int64_t k1 = std::min(k0 + kBlock, code.k);
    for (int64_t gemm = 0; gemm < layout.gemms; ++gemm) {
      const Tensor& w = weights[static_cast<size_t>(gemm)];
      const auto* from = reinterpret_cast<const Element*>(w.raw_data());
      const int64_t k_stride = w.strides()[0];
      for (int64_t c = 0; c < columns; ++c) {
        const Element* column = from + (first + c) * w.strides()[1];
        for (int64_t k = k0; k < k1; ++k) to[layout.place(k, gemm, c)] = column[k * k_stride];
      }
    }
  }
}

// Transposes a 4x4 block with vectors that every CPU supports. Element by element, packing would
// take much of the time of a small GEMM.
template <typename Word>
void transpose_4x4(const Word* from, int64_t from_stride, Word* to, int64_t to_stride) {
  using Four __attribute__((vector_size(4 * sizeof(Word)))) = Word;
  Four rows[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&rows[i], from + i * from_stride, sizeof(Four));
  const Four low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Four low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Four high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Four columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                           __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                           __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                           __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_stride, &columns[i], sizeof(Four));
}

// Interleaves `height` rows, `row_stride` apart: for each k, the words of all rows are adjacent.
template <typename Word>
void interleave(const Word* rows, int64_t row_stride, int64_t height, int64_t k, Word* to) {
  const int64_t fours = k / 4 * 4;
  for (int64_t i = 0; i < fours; i += 4) {
    int64_t r = 0;
    for (; r + 4 <= height; r += 4) {
      transpose_4x4(rows + r * row_stride + i, row_stride, to + i * height + r, height);
    }
    for (; r < height; ++r) {
      for (int64_t j = i; j < i + 4; ++j) to[j * height + r] = rows[r * row_stride + j];
    }
  }
  for (int64_t i = fours; i < k; ++i) {
    for (int64_t r = 0; r < height; ++r) to[i * height + r] = rows[r * row_stride + i];
  }
}

// Packs one block of rows of any dtype and strides.
template <typename Word>
void pack_block(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t block,
                Word* to) {
  const int64_t first = block * tile.rows;
  const int64_t height = std::min<int64_t>(tile.rows, rows.count - first);
  const int64_t element = size_bytes(code.dtype);
  const std::byte* from = rows.data + first * rows.row_stride * element;
  if (has_float_groups(code)) {  // pads the last group
    std::fill(to + code.k * height, to + row_words(code, tile) * height, Word(0));
  }
  const bool widened = tile.kind == GemmKind::kVectors || tile.kind == GemmKind::kHalves;
  const auto convert = cpu::converter(code.dtype, widened ? DType::kF32 : code.dtype);
  if (height == 1) {
    to[row_words(code, tile) - 1] = 0;  // pads an incomplete pair
    convert(from, rows.k_stride, to, 1, code.k);
    return;
  }
  if (element == sizeof(Word) && rows.k_stride == 1) {
    interleave(reinterpret_cast<const Word*>(from), rows.row_stride, height, code.k, to);
    return;
  }
  constexpr int64_t kWords = 64;
  std::array<Word, kMaxRows * kWords> lines;
  const int64_t chunk = kWords * depth_of(tile);
  for (int64_t k0 = 0; k0 < code.k; k0 += chunk) {
    const int64_t count = std::min(chunk, code.k - k0);
    const int64_t words = rounded_up(count, depth_of(tile)) / depth_of(tile);
    for (int64_t r = 0; r < height; ++r) {
      Word* line = lines.data() + r * kWords;
      line[words - 1] = 0;  // pads an incomplete pair
      convert(from + (r * rows.row_stride + k0 * rows.k_stride) * element, rows.k_stride, line, 1,
              count);
    }
    interleave(lines.data(), kWords, height, words, to + k0 / depth_of(tile) * height);
  }
}

using Group = uint64_t;  // four bf16 of one row
static_assert(kMmlaDepth * 2 == sizeof(Group));

// Interleaves the groups of two rows: row 0 and row 1 of the first group, then of the second, at a
// distance of `height` groups.
void interleave_groups(const std::byte* row0, const std::byte* row1, int64_t groups, int64_t height,
                       Group* to) {
  using Two = Group __attribute__((vector_size(16)));
  int64_t g = 0;
  for (; g + 2 <= groups; g += 2) {
    Two a;
    Two b;
    std::memcpy(&a, row0 + g * sizeof(Group), sizeof(Two));
    std::memcpy(&b, row1 + g * sizeof(Group), sizeof(Two));
    const Two first = __builtin_shufflevector(a, b, 0, 2);
    const Two second = __builtin_shufflevector(a, b, 1, 3);
    std::memcpy(to + g * height, &first, sizeof(Two));
    std::memcpy(to + (g + 1) * height, &second, sizeof(Two));
  }
  if (g < groups) {
    std::memcpy(to + g * height, row0 + g * sizeof(Group), sizeof(Group));
    std::memcpy(to + g * height + 1, row1 + g * sizeof(Group), sizeof(Group));
  }
}

// Packs one block of rows for bfmmla: for each four k, those of every row.
void pack_groups(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t block,
                 Group* to) {
  const int64_t first = block * tile.rows;
  const int64_t height = std::min<int64_t>(tile.rows, rows.count - first);
  const int64_t packed = rounded_up(height, kMmlaRows);
  constexpr int64_t kGroups = 64;  // at a time
  constexpr int64_t kChunk = kGroups * kMmlaDepth;
  const auto convert = cpu::converter(code.dtype, code.dtype);
  std::array<std::array<Group, kGroups>, kMmlaRows> copies;
  for (int64_t k0 = 0; k0 < code.k; k0 += kChunk) {
    const int64_t count = std::min(kChunk, code.k - k0);
    const int64_t groups = rounded_up(count, kMmlaDepth) / kMmlaDepth;
    const bool in_place = rows.k_stride == 1 && count % kMmlaDepth == 0;
    for (int64_t r = 0; r < packed; r += kMmlaRows) {
      std::array<const std::byte*, kMmlaRows> lines;
      for (size_t i = 0; i < kMmlaRows; ++i) {
        const int64_t row = r + static_cast<int64_t>(i);
        const std::byte* from =
            rows.data + ((first + row) * rows.row_stride + k0 * rows.k_stride) * 2;
        if (row < height && in_place) {
          lines[i] = from;
          continue;
        }
        copies[i].fill(0);  // pads an incomplete group, or is the row of zeros
        if (row < height) convert(from, rows.k_stride, copies[i].data(), 1, count);
        lines[i] = reinterpret_cast<const std::byte*>(copies[i].data());
      }
      interleave_groups(lines[0], lines[1], groups, packed, to + k0 / kMmlaDepth * packed + r);
    }
  }
}

// Packs one tile of rows for AMX: for each step, the k of every row. The last step is zero-padded.
void pack_tile(const GemmCode& code, const Rows& rows, int64_t tile, std::byte* to) {
  constexpr int64_t kLine = kTileStepBytes / kTileRows;  // of one row in a step
  constexpr int64_t kChunk = 16 * kTileDepth;
  const int64_t first = tile * kTileRows;
  const int64_t height = std::min<int64_t>(kTileRows, rows.count - first);
  const auto convert = cpu::converter(code.dtype, code.dtype);
  std::array<std::byte, kChunk * 2> copy;
  for (int64_t k0 = 0; k0 < code.k; k0 += kChunk) {
    const int64_t count = std::min(kChunk, code.k - k0);
    const int64_t steps = rounded_up(count, kTileDepth) / kTileDepth;
    const bool in_place = rows.k_stride == 1 && count % kTileDepth == 0;
    for (int64_t r = 0; r < height; ++r) {
      const std::byte* from = rows.data + ((first + r) * rows.row_stride + k0 * rows.k_stride) * 2;
      if (!in_place) {
        copy.fill(std::byte{0});
        convert(from, rows.k_stride, copy.data(), 1, count);
        from = copy.data();
      }
      std::byte* line = to + k0 / kTileDepth * kTileStepBytes + r * kLine;
      for (int64_t s = 0; s < steps; ++s) {
        std::memcpy(line + s * kTileStepBytes, from + s * kLine, kLine);
      }
    }
  }
}

}  // namespace

int64_t panels_of(const GemmCode& code, const GemmTile& tile) {
  return (code.n + tile.columns - 1) / tile.columns;
}

namespace {

Tensor pack_int8_weights(const GemmCode& code, const GemmTile& tile,
                         std::span<const Tensor> weights) {
  const int64_t panels = panels_of(code, tile);
  const int64_t bytes = int8_panel_size(code, tile);
  const auto gemms = static_cast<size_t>(code.gemms);
  const Tensor packed = empty({panels, bytes}, {DType::kI8, kCpu});
  parallel_for(panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      pack_int8_panel(code, tile, weights.first(gemms), weights.subspan(gemms), panel,
                      packed.raw_data() + panel * bytes);
    }
  });
  return packed;
}

}  // namespace

Tensor pack_weights(const GemmCode& code, const GemmTile& tile, std::span<const Tensor> weights) {
  if (code.int8) return pack_int8_weights(code, tile, weights);
  const PanelLayout layout{tile.kind, tile.columns, code.gemms};
  const int64_t depth = rounded_up(code.k, depth_of(tile));
  const int64_t panel_elements = depth * tile.columns * code.gemms;
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
  if (tile.kind == GemmKind::kMmla) {
    return rounded_up(rows.count, kMmlaRows) * rounded_up(code.k, kMmlaDepth) * 2;
  }
  if (code.int8 && code.int8->int8_input) {
    const int64_t together = tile.kind == GemmKind::kSmmla ? kMmlaRows : 1;
    return rounded_up(rows.count, together) * int8_steps(code) * kInt8RowBytes;
  }
  if (tile.kind != GemmKind::kTiles) {
    return rows.count * row_words(code, tile) * word_bytes(tile);
  }
  return rounded_up(rows.count, kTileRows) / kTileRows * tile_steps(code) * kTileStepBytes;
}

void pack_rows(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t begin,
               int64_t end, std::byte* packed) {
  for (int64_t block = begin / tile.rows; block * tile.rows < end; ++block) {
    if (tile.kind == GemmKind::kTiles) {
      pack_tile(code, rows, block, packed + block * tile_steps(code) * kTileStepBytes);
      continue;
    }
    if (code.int8 && code.int8->int8_input) {
      pack_int8_rows(code, tile, rows, block,
                     packed + block * tile.rows * int8_steps(code) * kInt8RowBytes);
      continue;
    }
    if (tile.kind == GemmKind::kMmla) {
      const int64_t groups = rounded_up(code.k, kMmlaDepth) / kMmlaDepth;
      pack_groups(code, tile, rows, block,
                  reinterpret_cast<Group*>(packed) + block * tile.rows * groups);
      continue;
    }
    const int64_t first_word = block * tile.rows * row_words(code, tile);
    if (tile.kind == GemmKind::kFmlal) {
      pack_block(code, tile, rows, block, reinterpret_cast<uint16_t*>(packed) + first_word);
    } else {
      pack_block(code, tile, rows, block, reinterpret_cast<float*>(packed) + first_word);
    }
  }
}

}  // namespace epi::compiler
