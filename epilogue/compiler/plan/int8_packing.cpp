// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/int8_packing.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "epilogue/base/error.h"
#include "epilogue/compiler/codegen/gemm_int8.h"
#include "epilogue/compiler/codegen/gemm_mmla.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/int8_groups.h"

namespace epi::compiler {
namespace {

static_assert(kInt8Step == kInt8Group);
constexpr int64_t kStep = kInt8Step;

// The position of a weight in a panel, in bytes. `across` counts the columns of all GEMMs.
int64_t place(const GemmCode& code, const GemmTile& tile, int64_t k, int64_t across) {
  const int64_t columns = int64_t{tile.columns} * code.gemms;
  const int64_t start = k / kStep * int8_panel_bytes(code, tile);
  const int64_t i = k % kStep;
  if (tile.kind == GemmKind::kVectors) return start + i * columns + across;
  if (tile.kind != GemmKind::kSmmla) return start + (i / 4 * columns + across) * 4 + i % 4;
  return start + (across / 2 * kStep / 8 + i / 8) * 16 + across % 2 * 8 + i % 8;
}

// Some groups of a row, quantized.
constexpr int64_t kChunkGroups = 16;
struct QuantizedGroups {
  std::array<int8_t, kChunkGroups * kStep> values;
  std::array<float, kChunkGroups> scales;
};

// Quantizes `count` elements of a row, starting at k0.
void quantize(const GemmCode& code, const Rows& rows, int64_t row, int64_t k0, int64_t count,
              QuantizedGroups& to) {
  std::array<float, kChunkGroups * kStep> numbers;
  const std::byte* from =
      rows.data + (row * rows.row_stride + k0 * rows.k_stride) * size_bytes(code.dtype);
  cpu::converter(code.dtype, DType::kF32)(from, rows.k_stride, numbers.data(), 1, count);
  cpu::loops().int8.quantize(numbers.data(), count, to.values.data(), to.scales.data());
}

// Writes two rows of a group for smmla.
void write_pair(const QuantizedGroups& first, const QuantizedGroups& second, size_t group,
                std::byte* to) {
  for (size_t i = 0; i < kStep; i += 8) {
    std::memcpy(to, first.values.data() + group * kStep + i, 8);
    std::memcpy(to + 8, second.values.data() + group * kStep + i, 8);
    to += 16;
  }
  const std::array<float, 4> scales = {first.scales[group], first.scales[group],
                                       second.scales[group], second.scales[group]};
  std::memcpy(to, scales.data(), sizeof scales);
}

void write_row(const QuantizedGroups& row, size_t group, std::byte* to) {
  const int8_t* values = row.values.data() + group * kStep;
  std::memcpy(to, values, kStep);
  std::memcpy(to + kStep, &row.scales[group], 4);
  int32_t sum = 0;
  for (int64_t i = 0; i < kStep; ++i) sum += values[i];
  const int32_t start = -128 * sum;
  std::memcpy(to + kStep + 4, &start, 4);
}

}  // namespace

int64_t int8_panel_size(const GemmCode& code, const GemmTile& tile) {
  const bool by_groups = code.int8->int8_input || code.int8->in_groups;
  return by_groups ? int8_steps(code) * int8_panel_bytes(code, tile)
                   : code.k * tile.columns * code.gemms;
}

void pack_int8_panel(const GemmCode& code, const GemmTile& tile, std::span<const Tensor> weights,
                     std::span<const Tensor> scales, int64_t panel, std::byte* to) {
  const int64_t first = panel * tile.columns;
  const int64_t columns = std::min<int64_t>(tile.columns, code.n - first);
  std::memset(to, 0, static_cast<size_t>(int8_panel_size(code, tile)));
  for (int gemm = 0; gemm < code.gemms; ++gemm) {
    const Tensor& w = weights[static_cast<size_t>(gemm)];
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t across = int64_t{gemm} * tile.columns + c;
      const auto* column = w.data<int8_t>() + (first + c) * w.stride(1);
      for (int64_t k = 0; k < code.k; ++k) {
        to[place(code, tile, k, across)] = static_cast<std::byte>(column[k * w.stride(0)]);
      }
      if (!code.int8->in_groups) continue;
      const Tensor& scale = scales[static_cast<size_t>(gemm)];
      const auto convert = cpu::converter(scale.dtype(), DType::kF32);
      for (int64_t group = 0; group < int8_steps(code); ++group) {
        const std::byte* from =
            scale.raw_data() +
            ((first + c) * scale.stride(0) + group * scale.stride(1)) * size_bytes(scale.dtype());
        const int64_t start = group * int8_panel_bytes(code, tile);
        const int64_t at = start + int64_t{tile.columns} * code.gemms * kStep + across * 4;
        convert(from, 1, to + at, 1, 1);
      }
    }
  }
  if (tile.kind != GemmKind::kVnni) return;
  const int64_t columns_bytes = int64_t{tile.columns} * code.gemms * kStep;
  for (int64_t group = 0; group < int8_steps(code); ++group) {
    std::byte* bytes = to + group * int8_panel_bytes(code, tile);
    for (int64_t i = 0; i < columns_bytes; ++i) bytes[i] ^= std::byte{128};  // plus 128
  }
}

void pack_int8_rows(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t block,
                    std::byte* to) {
  const int64_t first = block * tile.rows;
  const int64_t height = std::min<int64_t>(tile.rows, rows.count - first);
  const bool in_pairs = tile.kind == GemmKind::kSmmla;
  const int64_t together = in_pairs ? kMmlaRows : 1;
  const int64_t packed = (height + together - 1) / together * together;
  std::array<QuantizedGroups, kMmlaRows> quantized;
  for (int64_t r = 0; r < height; r += together) {
    for (int64_t k0 = 0; k0 < code.k; k0 += kChunkGroups * kStep) {
      const int64_t count = std::min(kChunkGroups * kStep, code.k - k0);
      quantize(code, rows, first + r, k0, count, quantized[0]);
      if (in_pairs) {
        if (r + 1 < height) {
          quantize(code, rows, first + r + 1, k0, count, quantized[1]);
        } else {
          quantized[1] = {};
        }
      }
      for (int64_t group = 0; group < int8_groups(count); ++group) {
        std::byte* at = to + ((k0 / kStep + group) * packed + r) * kInt8RowBytes;
        const auto index = static_cast<size_t>(group);
        if (in_pairs) {
          write_pair(quantized[0], quantized[1], index, at);
        } else {
          write_row(quantized[0], index, at);
        }
      }
    }
  }
}

}  // namespace epi::compiler
