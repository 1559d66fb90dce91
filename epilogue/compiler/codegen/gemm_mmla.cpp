// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_mmla.h"

#include <algorithm>

#include "epilogue/compiler/codegen/gemm_epilogue.h"
#include "epilogue/compiler/codegen/gemm_int8.h"
#include "epilogue/compiler/codegen/gemm_panel.h"

namespace epi::compiler {
namespace {

constexpr int kLanes = 4;
constexpr int64_t kRegisterBytes = 16;  // of two rows or columns
constexpr int kInt8Registers = kInt8Step / 8;
constexpr int64_t kInt8PairBytes = kInt8Registers * kRegisterBytes;  // of two rows or columns
constexpr int64_t kBf16RowBytes = kMmlaDepth * 2;
constexpr int kMaxSums = 24;  // of 32 registers
constexpr int kMaxStreams = 4;
constexpr int kPairsAtOnce = 2;  // of columns, for int8
// A flat tile streams its panel from memory and prefetches it. A full tile finds its part of the
// panel in L1.
constexpr int kFlatRows = 4;

class GemmMmla {
 public:
  GemmMmla(const std::string& name, const GemmCode& code, const GemmTile& tile,
           const Target& target)
      : code_(code),
        tile_(tile),
        target_(target),
        is_int8_(tile.kind == GemmKind::kSmmla),
        pairs_(tile.columns * code.gemms / kMmlaRows),
        steps_(is_int8_ ? int8_steps(code) : (code.k + kMmlaDepth - 1) / kMmlaDepth),
        panel_bytes_(is_int8_ ? int8_panel_bytes(code, tile) : pairs_ * kRegisterBytes),
        row_bytes_(is_int8_ ? kInt8RowBytes : kBf16RowBytes),
        may_pass_end_(code.n % tile.columns != 0),
        panel_(name, code, tile, target, {steps_, panel_bytes_, row_bytes_, kMmlaRows}) {}

  std::string emit() {
    for (const int height : panel_.heights()) emit_tile(height);
    panel_.emit(out_, operators_of(code_));
    return out_.text();
  }

 private:
  bool is_flat(int height) const { return height <= kFlatRows && !panel_.is_full(height); }
  // A flat tile reads its panel at several positions at once: memory serves several streams faster
  // than one, and the dependency chains of the sums are shorter.
  int streams_of(int height) const {
    int streams = 1;
    while (is_flat(height) && steps_ % (2 * streams) == 0 && streams < kMaxStreams &&
           2 * streams * height / kMmlaRows * pairs_ <= kMaxSums) {
      streams *= 2;
    }
    return streams;
  }

  static std::string sum_name(int rows, int columns, int stream) {
    return fmt::format("{}.{}.{}", rows, columns, stream);
  }

  void emit_tile(int height) {
    const int streams = streams_of(height);
    std::vector<std::string> sums;
    for (int rows = 0; rows < height / kMmlaRows; ++rows) {
      for (int columns = 0; columns < pairs_; ++columns) {
        for (int stream = 0; stream < streams; ++stream) {
          sums.push_back(sum_name(rows, columns, stream));
        }
      }
    }
    out_.comment(fmt::format("{}: a tile of {} rows by {} columns, {} k at a time",
                             operators_of(code_), height, tile_.columns,
                             is_int8_ ? kInt8Step : kMmlaDepth));
    panel_.begin_tile(out_, height);
    emit_addresses(out_, code_);
    if (has_long_epilogue(code_)) {
      out_.line("%tile = alloca [{} x float], align 64", height * tile_.columns * code_.gemms);
    }
    panel_.begin_loop(out_, height, sums);
    for (int stream = 0; stream < streams; ++stream) {
      const IrValue k = out_.let("add i64 %k, {}", stream * (steps_ / streams));
      emit_multiply(height, stream, streams, k);
    }
    panel_.end_loop(out_, height, sums, streams);
    emit_finish(height, streams);
    out_.end_function();
  }

  void emit_multiply(int height, int stream, int streams, const IrValue& k) {
    const std::string packed =
        panel_.is_full(height) ? fmt::format("{}", height) : std::string("%height");
    const IrValue rows = out_.let("mul i64 {}, {}", k, packed);
    const IrValue numbers = out_.let("getelementptr [{} x i8], ptr %x, i64 {}", row_bytes_, rows);
    const IrValue skipped = out_.let("mul i64 {}, {}", k, panel_bytes_);
    const IrValue line = out_.let("getelementptr i8, ptr %panel, i64 {}", skipped);
    if (is_flat(height)) panel_.emit_prefetch(out_, line, panel_bytes_, streams);
    if (is_int8_) {
      emit_int8(height, stream, numbers, line);
    } else {
      emit_bf16(height, stream, numbers, line);
    }
  }

  void emit_bf16(int height, int stream, const IrValue& numbers, const IrValue& line) {
    constexpr auto kType = "<8 x bfloat>";
    std::vector<IrValue> rows;
    for (int pair = 0; pair < height / kMmlaRows; ++pair) {
      rows.push_back(emit_load(kType, numbers, pair * kRegisterBytes));
    }
    for (int columns = 0; columns < pairs_; ++columns) {
      const IrValue weights = emit_load(kType, line, columns * kRegisterBytes);
      for (int pair = 0; pair < height / kMmlaRows; ++pair) {
        out_.line(
            "%new{0} = call <4 x float> @llvm.aarch64.neon.bfmmla(<4 x float> %sum{0}, "
            "<8 x bfloat> {1}, <8 x bfloat> {2})",
            sum_name(pair, columns, stream), rows[static_cast<size_t>(pair)], weights);
      }
    }
  }

  // The integer sums of a group are exact. They become floats once per group.
  void emit_int8(int height, int stream, const IrValue& numbers, const IrValue& line) {
    const int pairs_of_rows = height / kMmlaRows;
    std::vector<std::vector<IrValue>> rows;
    std::vector<IrValue> row_scales;
    for (int pair = 0; pair < pairs_of_rows; ++pair) {
      const int64_t at = pair * kMmlaRows * kInt8RowBytes;
      rows.push_back(emit_registers(numbers, at));
      row_scales.push_back(emit_load("<4 x float>", numbers, at + kInt8PairBytes));
    }
    // The sums of several columns are independent of each other, which hides their latency.
    for (int first = 0; first < pairs_; first += kPairsAtOnce) {
      const int last = std::min(first + kPairsAtOnce, pairs_);
      std::vector<IrValue> sums(static_cast<size_t>((last - first) * pairs_of_rows),
                                "zeroinitializer");
      for (int i = 0; i < kInt8Registers; ++i) {
        auto sum = sums.begin();
        for (int columns = first; columns < last; ++columns) {
          const IrValue weights =
              emit_load("<16 x i8>", line, columns * kInt8PairBytes + i * kRegisterBytes);
          for (int pair = 0; pair < pairs_of_rows; ++pair, ++sum) {
            *sum = out_.let(
                "call <4 x i32> @llvm.aarch64.neon.smmla.v4i32.v16i8(<4 x i32> {}, <16 x i8> {}, "
                "<16 x i8> {})",
                *sum, rows[static_cast<size_t>(pair)][static_cast<size_t>(i)], weights);
          }
        }
      }
      auto sum = sums.begin();
      for (int columns = first; columns < last; ++columns) {
        const IrValue column_scales =
            code_.int8->in_groups ? emit_column_scales(line, columns) : "";
        for (int pair = 0; pair < pairs_of_rows; ++pair, ++sum) {
          IrValue scale = row_scales[static_cast<size_t>(pair)];
          if (code_.int8->in_groups) {
            scale = out_.let("fmul <4 x float> {}, {}", scale, column_scales);
          }
          const IrValue products = out_.let("sitofp <4 x i32> {} to <4 x float>", *sum);
          out_.line(
              "%new{0} = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> {1}, <4 x float> {2}, "
              "<4 x float> %sum{0})",
              sum_name(pair, columns, stream), products, scale);
        }
      }
    }
  }

  std::vector<IrValue> emit_registers(const IrValue& from, int64_t byte) {
    std::vector<IrValue> registers;
    for (int i = 0; i < kInt8Registers; ++i) {
      registers.push_back(emit_load("<16 x i8>", from, byte + i * kRegisterBytes));
    }
    return registers;
  }

  // The scales of two columns, for both rows.
  IrValue emit_column_scales(const IrValue& line, int columns) {
    const IrValue two =
        emit_load("<2 x float>", line, pairs_ * kInt8PairBytes + columns * kMmlaRows * 4);
    return out_.let(
        "shufflevector <2 x float> {}, <2 x float> poison, <4 x i32> <i32 0, i32 1, i32 0, i32 1>",
        two);
  }

  IrValue emit_load(std::string_view type, const IrValue& from, int64_t byte) {
    const IrValue at = out_.let("getelementptr i8, ptr {}, i64 {}", from, byte);
    return out_.let("load {}, ptr {}, align 8", type, at);
  }

  // The last row of a tile below the full ones may not exist.
  void emit_finish(int height, int streams) {
    if (has_long_epilogue(code_)) {
      for (int row = 0; row < height; ++row) store_row(row, streams);
      const IrValue rows = panel_.is_full(height)
                               ? fmt::format("{}", height)
                               : out_.let("call i64 @llvm.smin.i64(i64 %rows, i64 {})", height);
      emit_epilogue_loop(out_, code_, target_, {"%tile", height, tile_.columns, rows}, "finish");
      return;
    }
    for (int row = 0; row < height; ++row) {
      const bool optional = !panel_.is_full(height) && row == height - 1;
      if (optional) {
        out_.line("%exists = icmp sge i64 %rows, {}", height);
        out_.line("br i1 %exists, label %last.row, label %end");
        out_.label("last.row");
      }
      emit_row(row, streams);
      if (optional) {
        out_.line("br label %end");
        out_.label("end");
      }
    }
  }

  void store_row(int row, int streams) {
    VectorCode code(out_, target_, kLanes);
    for (int column = 0; column < tile_.columns * code_.gemms; column += kLanes) {
      const int place = row * tile_.columns * code_.gemms + column;
      code.store(DType::kF32, emit_sums(row, column / kMmlaRows, streams),
                 out_.let("getelementptr float, ptr %tile, i64 {}", place));
    }
  }

  void emit_row(int row, int streams) {
    const IrValue at_row = out_.let("add i64 %row, {}", row);
    for (int column = 0; column < tile_.columns; column += kLanes) {
      std::vector<IrValue> sums;
      for (int gemm = 0; gemm < code_.gemms; ++gemm) {
        sums.push_back(emit_sums(row, (gemm * tile_.columns + column) / kMmlaRows, streams));
      }
      const IrValue at_column = out_.let("add i64 %column, {}", column);
      emit_epilogue(out_, code_, target_, sums, at_row, at_column, may_pass_end_);
    }
  }

  // The sums of a row in the columns of two registers.
  IrValue emit_sums(int row, int pair, int streams) {
    const auto total = [&](int columns) {
      return panel_.emit_total(out_, fmt::format("{}.{}", row / kMmlaRows, columns), streams);
    };
    const IrValue left = total(pair);
    const IrValue right = total(pair + 1);
    return out_.let(
        "shufflevector <4 x float> {}, <4 x float> {}, <4 x i32> {}", left, right,
        row % kMmlaRows == 0 ? "<i32 0, i32 1, i32 4, i32 5>" : "<i32 2, i32 3, i32 6, i32 7>");
  }

  const GemmCode& code_;
  const GemmTile& tile_;
  const Target& target_;
  bool is_int8_;
  int pairs_;            // of columns of all GEMMs
  int64_t steps_;        // along k
  int64_t panel_bytes_;  // of a step
  int64_t row_bytes_;    // of a row of x in a step
  bool may_pass_end_;
  GemmPanel panel_;
  IrWriter out_;
};

}  // namespace

std::string emit_gemm_mmla(const std::string& name, const GemmCode& code, const GemmTile& tile,
                           const Target& target) {
  return GemmMmla(name, code, tile, target).emit();
}

}  // namespace epi::compiler
